package hold

// CgroupPrefix is what the name of a session's cgroup begins with; its id follows.
const CgroupPrefix = "berth-"

// EndCgroup kills what is left in a session's cgroup, and removes it.
func EndCgroup(path string) error { return endCgroup(path) }

// OOMData is the data of KindOOM.
type OOMData struct {
	Kills int64 `json:"kills"` // processes killed since the record before
	Limit int64 `json:"limit"` // of the session's memory, in bytes
}
