package sandbox

func helperRunner([]string) int { return 0 }
