package ingest

import (
	"fmt"
	"strings"

	"rebench/internal/attemptlog"
	"rebench/internal/rebench"
)

// taskEnvironment is the environment that a task's name stands for: METR's family or
// an id of ours, with or without a package before it, in either spelling of words.
func taskEnvironment(task string) (rebench.EnvironmentID, bool) {
	name := task[strings.LastIndexByte(task, '/')+1:]
	name = strings.ReplaceAll(strings.ToLower(name), "-", "_")
	if e, ok := rebench.EnvironmentByID(rebench.EnvironmentID(name)); ok {
		return e.ID, true
	}
	for _, family := range []string{name, "ai_rd_" + name} {
		if e, ok := rebench.EnvironmentByMETRFamily(family); ok {
			return e.ID, true
		}
	}
	// METR's task ids are family/task, such as ai_rd_fix_embedding/main.
	if before, _, ok := strings.Cut(task, "/"); ok {
		if e, ok := rebench.EnvironmentByMETRFamily(before); ok {
			return e.ID, true
		}
	}
	return "", false
}

// isBridge reports whether a log's task only runs METR's tasks, the name of which
// stands in its samples, if anywhere.
func isBridge(task string) bool {
	name, _, _ := strings.Cut(task, "/")
	return name == "mtb" || name == "metr_task_bridge"
}

// checkTask keeps a sample out of rankings whose log is of another task than the
// environment that the mapping names, unless the mapping confirms the task.
func (f *File) checkTask(src *source, l *inspectLog, s *inspectSample, a *Attempt) {
	task := l.task
	if s.family != "" {
		task = s.family
	}
	said := a.Header.Environment.ID
	if task == "" || isBridge(task) || said == unmapped || src.m.Task == task {
		return
	}
	is, known := taskEnvironment(task)
	if string(is) == said {
		return
	}
	what := "none of RE-Bench"
	if known {
		what = "that of " + string(is)
	}
	a.Unranked = fmt.Sprintf("its log is of the task %s, %s, and nobody confirmed that it is %s", quote(task), what, said)
	key := src.name + "\x00" + task
	if f.foreign[key] || len(f.foreign) >= MaxFaults {
		return
	}
	if f.foreign == nil {
		f.foreign = map[string]bool{}
	}
	f.foreign[key] = true
	f.addWarning(attemptlog.Fault{File: src.name, Field: "eval.task", Code: WarnForeignTask,
		Detail: fmt.Sprintf("the log is of the task %s, which is %s, and the mapping says %s: its attempts are kept and in no ranking", quote(task), what, said),
		Hint:   fmt.Sprintf(`if it is that environment under another name, confirm it with "task": %s in the mapping`, quote(task))})
}
