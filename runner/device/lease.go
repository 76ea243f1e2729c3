package device

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"rebench/internal/rebench"
)

// Lease is a set of devices that belongs to one attempt until Release.
type Lease struct {
	GPUs  []GPU
	Cores []int // logical processor numbers, ascending
	locks []*Lock
}

// Release gives every device back. Releasing twice is harmless.
func (l *Lease) Release() {
	if l == nil {
		return
	}
	for _, k := range l.locks {
		k.Release()
	}
	l.locks = nil
}

// CPUSet writes the leased cores as a list such as "0,2,3"; "" for none.
func (l *Lease) CPUSet() string {
	words := make([]string, len(l.Cores))
	for i, c := range l.Cores {
		words[i] = strconv.Itoa(c)
	}
	return strings.Join(words, ",")
}

// UUIDs lists the leased GPUs.
func (l *Lease) UUIDs() []string {
	ids := make([]string, len(l.GPUs))
	for i, g := range l.GPUs {
		ids[i] = g.UUID
	}
	return ids
}

// Pool leases the machine's devices.
type Pool struct {
	Locks     *Locks
	Inventory Inventory
	Cores     []int // the processors that may be leased, in the order of preference
}

// Want is what one attempt needs.
type Want struct {
	GPUs  int
	Cores int
	Owner string // noted in the lock files, e.g. the attempt's id
}

// Acquire waits until all the devices wanted are free and takes them together:
// taking them one by one could leave two runners each waiting for the other.
// waiting, when not nil, is called once if it has to wait. It fails at once with
// code conflict when the machine has too few devices ever to satisfy w.
func (p *Pool) Acquire(ctx context.Context, w Want, waiting func(why string)) (*Lease, error) {
	told := false
	for {
		lease, why, err := p.tryAcquire(ctx, w)
		if err != nil || lease != nil {
			return lease, err
		}
		if !told && waiting != nil {
			told = true
			waiting(why)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(pollSlow):
		}
	}
}

// tryAcquire returns a lease, or the reason why none is to be had now.
func (p *Pool) tryAcquire(ctx context.Context, w Want) (*Lease, string, error) {
	gate, err := p.Locks.wait(ctx, "pool.lock", false, w.Owner, nil)
	if err != nil {
		return nil, "", err
	}
	defer gate.Release()
	lease := &Lease{}
	why, err := p.takeCores(lease, w)
	if err == nil && why == "" {
		why, err = p.takeGPUs(ctx, lease, w)
	}
	if err != nil || why != "" {
		lease.Release()
		return nil, why, err
	}
	return lease, "", nil
}

func (p *Pool) takeCores(lease *Lease, w Want) (string, error) {
	if w.Cores > len(p.Cores) {
		return "", rebench.Errorf(rebench.CodeConflict, "the attempt needs %d CPU cores, this machine lends %d", w.Cores, len(p.Cores))
	}
	for _, c := range p.Cores {
		if len(lease.Cores) == w.Cores {
			break
		}
		lock, err := p.Locks.try(fmt.Sprintf("cpu-%d.lock", c), false, w.Owner)
		if err != nil {
			return "", err
		}
		if lock != nil {
			lease.Cores = append(lease.Cores, c)
			lease.locks = append(lease.locks, lock)
		}
	}
	if n := len(lease.Cores); n < w.Cores {
		return fmt.Sprintf("%d CPU cores are wanted, %d are free", w.Cores, n), nil
	}
	slices.Sort(lease.Cores)
	return "", nil
}

func (p *Pool) takeGPUs(ctx context.Context, lease *Lease, w Want) (string, error) {
	if w.GPUs == 0 {
		return "", nil
	}
	gpus, err := p.Inventory.GPUs(ctx)
	if err != nil {
		return "", err
	}
	usable := 0
	var busy error
	for _, g := range gpus {
		if g.MIG {
			continue
		}
		usable++
		if len(lease.GPUs) == w.GPUs {
			continue
		}
		lock, err := p.Locks.try("gpu-"+g.UUID+".lock", false, w.Owner)
		if err != nil {
			return "", err
		}
		if lock == nil {
			continue
		}
		if !idle(g) {
			lock.Release()
			busy = errors.Join(busy, &BusyError{GPU: g})
			continue
		}
		lease.GPUs = append(lease.GPUs, g)
		lease.locks = append(lease.locks, lock)
	}
	if usable < w.GPUs {
		return "", rebench.Errorf(rebench.CodeConflict, "the attempt needs %d GPUs, this machine has %d usable ones (MIG devices are not leased)", w.GPUs, usable)
	}
	if n := len(lease.GPUs); n < w.GPUs {
		if busy != nil {
			return fmt.Sprintf("%d GPUs are wanted, %d are free: %v", w.GPUs, n, busy), nil
		}
		return fmt.Sprintf("%d GPUs are wanted, %d are free", w.GPUs, n), nil
	}
	return "", nil
}
