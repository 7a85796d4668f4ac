package keys

// NamedVerbs returns all verbs that the rights name, each with its list.
func NamedVerbs() map[string]string {
	all := map[string]string{}
	for list, verbs := range map[string]map[string]bool{"accessVerbs": accessVerbs, "openVerbs": openVerbs, "agentVerbs": agentVerbs} {
		for v := range verbs {
			all[v] = list
		}
	}
	for _, v := range childVerbs {
		all[v] = "childVerbs"
	}
	return all
}
