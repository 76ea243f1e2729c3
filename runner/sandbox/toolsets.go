package sandbox

// ToolSets returns the names that RootSpec.Tools may hold.
func ToolSets() []string { return []string{"cc", "edit", "rust"} }
