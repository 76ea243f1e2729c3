package store

import (
	"context"
	"errors"
	"time"

	"gorm.io/gorm"

	"rebench/internal/rebench"
)

// SavedMapping is what an uploader answered for files that do not say everything
// themselves, kept under a name to be used again.
type SavedMapping struct {
	Name    string
	Author  string
	At      time.Time
	Mapping string // JSON
}

type mappingRow struct {
	Name    string `gorm:"primaryKey"`
	Author  string
	AtMs    int64
	Mapping string
}

func (mappingRow) TableName() string { return "mappings" }

// SaveMapping keeps a mapping under its name. Only its author may replace it.
func (s *Store) SaveMapping(ctx context.Context, m SavedMapping) error {
	return s.write(ctx, func(tx *gorm.DB) error {
		var old mappingRow
		if err := tx.Where("name = ?", m.Name).Limit(1).Find(&old).Error; err != nil {
			return err
		}
		if old.Name != "" && old.Author != m.Author {
			return rebench.Errorf(rebench.CodeConflict, "the name %q is taken by a mapping of %s; choose another", m.Name, old.Author)
		}
		return tx.Save(&mappingRow{Name: m.Name, Author: m.Author, AtMs: time.Now().UnixMilli(), Mapping: m.Mapping}).Error
	})
}

// Mappings returns the saved mappings by name, at most limit.
func (s *Store) Mappings(ctx context.Context, limit int) ([]SavedMapping, error) {
	var rows []mappingRow
	if err := s.reader.WithContext(ctx).Order("name").Limit(limit).Find(&rows).Error; err != nil {
		return nil, err
	}
	out := make([]SavedMapping, len(rows))
	for i, r := range rows {
		out[i] = SavedMapping{Name: r.Name, Author: r.Author, At: time.UnixMilli(r.AtMs).UTC(), Mapping: r.Mapping}
	}
	return out, nil
}

// Mapping returns the saved mapping of a name.
func (s *Store) Mapping(ctx context.Context, name string) (SavedMapping, error) {
	var r mappingRow
	err := s.reader.WithContext(ctx).Where("name = ?", name).First(&r).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return SavedMapping{}, rebench.Errorf(rebench.CodeNotFound, "there is no saved mapping %q", name)
	}
	return SavedMapping{Name: r.Name, Author: r.Author, At: time.UnixMilli(r.AtMs).UTC(), Mapping: r.Mapping}, err
}
