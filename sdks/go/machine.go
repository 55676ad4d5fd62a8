package campanile

import (
	"os"
	"runtime"
	"strconv"
	"strings"

	v1 "campanile.dev/sdk-go/executorv1"
)

// machine reads the machine that the executor runs on, where it says of itself in /proc. What cannot be read is
// unknown, not zero.
type machine struct{ busy, total float64 }

func (m *machine) read() *v1.Machine {
	cores := uint32(runtime.NumCPU())
	return &v1.Machine{CpuPercent: m.cpu(), MemoryPercent: memory(), DiskQueue: diskQueue(), Cores: &cores}
}

// cpu is the share since the last reading; unknown the first time.
func (m *machine) cpu() *float64 {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return nil
	}
	line, _, _ := strings.Cut(string(text), "\n")
	var total, idle float64
	for at, field := range strings.Fields(line) {
		if at == 0 || at > 8 {
			continue
		}
		ticks, _ := strconv.ParseFloat(field, 64)
		total += ticks
		if at == 4 || at == 5 {
			idle += ticks
		}
	}
	busy := total - idle
	before := *m
	m.busy, m.total = busy, total
	if before.total == 0 || total <= before.total {
		return nil
	}
	percent := 100 * (busy - before.busy) / (total - before.total)
	return &percent
}

func memory() *float64 {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return nil
	}
	figures := map[string]float64{}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) >= 2 {
			figures[fields[0]], _ = strconv.ParseFloat(fields[1], 64)
		}
	}
	total, available := figures["MemTotal:"], figures["MemAvailable:"]
	if total == 0 {
		return nil
	}
	percent := 100 * (1 - available/total)
	return &percent
}

// diskQueue is the longest queue of any disk at this moment.
func diskQueue() *float64 {
	text, err := os.ReadFile("/proc/diskstats")
	if err != nil {
		return nil
	}
	longest := 0.0
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) >= 12 {
			queue, _ := strconv.ParseFloat(fields[11], 64)
			longest = max(longest, queue)
		}
	}
	return &longest
}
