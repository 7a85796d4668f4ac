// Berth's plugin for opencode. It reports what opencode does to berth-hold, and gives opencode the
// answers that berth-hold prints. The line before this one sets the constant berth: the hook program, the
// files that make the hooks at a turn's end and at a conversation's start wait, and the folder with a file for
// each conversation. Among the user's own plugins it has the hook program alone: it only works in a session
// of Berth's that has no other one.
import { spawn } from "node:child_process"
import { createHash } from "node:crypto"
import { appendFileSync, existsSync, readlinkSync } from "node:fs"
import { dirname, isAbsolute, join } from "node:path"

export const Berth = async ({ client, directory }) => {
  if (!process.env.BERTH_HOOK_SOCKET || (berth.user && process.env.BERTH_HOOKS) || !existsSync(berth.hook)) return {}
  const families = new Map() // of conversations: the id of the parent, "" without one, and the kind of agent
  const calls = new Map() // the tool calls of the current step, by conversation and id: two subagents may have calls of one id
  const asked = new Map() // permissions without a reply, by id: the call that each is for
  const hooks = new Map() // hooks that wait for an answer, by the request's id
  const talks = new Map() // of conversations: what is known of the current turn
  const contexts = new Map() // of conversations: the text for the model's instructions
  let current = ""
  let version = ""

  // Reports go out one after the other, in the order of the events. Those that are dropped are known by the screen.
  const most = 2000
  let line = Promise.resolve()
  let length = 0
  const next = (work) => {
    if (length >= most) return line
    length++
    line = line.then(work).catch(() => {}).finally(() => length--)
    return line
  }

  // encoded is a report as the hook program takes it. Of one that Berth would cut off, long texts are shortened here, so that
  // it still says what it is about: a call that isn't reported is drawn like others.
  const room = 4 << 20
  const fits = (text) => Buffer.byteLength(text) < room
  const shortened = (text) => `${text.slice(0, 500)}… (${Buffer.byteLength(text)} bytes, SHA-256 ${createHash("sha256").update(text).digest("hex")})`
  const encoded = (body) => {
    const whole = JSON.stringify(body)
    if (fits(whole) || body.questions) return whole
    const texts = JSON.stringify({ ...body, cut: true }, (_, value) => (value?.length > 2000 && typeof value === "string" ? shortened(value) : value))
    if (fits(texts)) return texts
    const brief = (value) => (JSON.stringify(value ?? "").length < 2000 ? value : typeof value === "string" ? shortened(value) : { "too long": shortened(JSON.stringify(value)) })
    const fields = Object.entries(body).map(([name, value]) => [name, Array.isArray(value) ? [] : brief(value)])
    return JSON.stringify({ ...Object.fromEntries(fields), patterns: ["too many"], cut: true })
  }

  // run runs the hook program, and returns what it prints, and whether another process has ended it. opencode waits
  // for most reports, so a program that hangs is ended.
  const run = (words, body, limit, started) =>
    new Promise((done) => {
      const hook = spawn(berth.hook, ["hook", ...words, body.event], { stdio: ["pipe", "pipe", "ignore"] })
      let out = ""
      hook.stdout.on("data", (data) => (out += data))
      hook.on("error", () => done({ out }))
      const stuck = limit && setTimeout(() => hook.kill("SIGKILL"), limit)
      hook.on("close", (status, signal) => {
        clearTimeout(stuck)
        done({ out, lost: signal && !hook.killed })
      })
      hook.stdin.on("error", () => {})
      hook.stdin.end(encoded(body))
      if (started) started(hook)
    })
  // report runs a hook that another process has ended again: it may not have reported.
  const report = async (words, body, limit, tries = 3) => {
    const { out, lost } = await run(words, body, limit)
    return lost && tries > 1 ? report(words, body, limit, tries - 1) : out
  }
  const tell = (body) => report(["--tell"], body, 10_000)
  const wait = async (file, body) => parse(await report(file ? ["--ask", "15s", "5s", "--if", file] : ["--tell"], body, 30_000)) // reports only, if the file isn't there

  // Some models give several calls of a step one id. opencode doesn't say which of them a permission or an end is for. So
  // each is kept until its step is over, and a permission may be for any of them.
  const callKey = (conversation, call) => `${conversation} ${call}`
  const begins = (key, call) => {
    if (!calls.has(key)) calls.set(key, { all: [], over: 0 })
    calls.get(key).all.push(call)
  }
  // ends counts the end of a call, and reports whether it is that of the last call with its id.
  const ends = (key) => {
    const of = calls.get(key)
    const told = of?.all.filter((c) => c.told).length
    return of && of.over < told && ++of.over === told
  }
  // forget forgets the calls of a step that is over. Those whose reports wait are of the next one.
  const forget = (conversation) => {
    for (const [key, of] of calls) {
      if (!key.startsWith(callKey(conversation, ""))) continue
      Object.assign(of, { all: of.all.filter((c) => !c.told), over: 0 })
      if (!of.all.length) calls.delete(key)
    }
  }
  // within are the calls that the code of a call has made. opencode adds a number to its id for each.
  const code = "execute"
  const within = (key) => [...calls].flatMap(([k, of]) => (k.startsWith(key + "/") ? of.all : []))
  // subject is what a permission is for. With several calls it is a call of its own, so that its end is not theirs. opencode says of a
  // call that code makes only which code that is.
  const subject = ({ id, sessionID, permission, tool }) => {
    const key = callKey(sessionID, tool?.callID)
    let all = calls.get(key)?.all ?? []
    if (all.some((c) => c.tool === code) && permission !== code && permission !== "doom_loop") {
      const made = within(key)
      const same = made.filter((c) => c.tool === permission)
      all = all.length > 1 ? [...all, ...made] : same.length ? same : made
    }
    if (all.length < 2) return { call: all[0]?.id ?? tool?.callID, tool: all[0]?.tool, input: all[0]?.input }
    return { call: `${tool.callID} ${id}`, input: { "one of these calls": all.map(({ tool, input }) => ({ tool, input })) } }
  }
  // real is where a path leads by links, also that of a file that isn't there yet: opencode makes the file that a link leads to.
  const real = (path) => {
    let at = "/"
    const rest = path.split("/")
    for (let links = 0; rest.length && links < 40; ) {
      const name = rest.shift()
      const next = name === ".." ? dirname(at) : join(at, name)
      try {
        const target = readlinkSync(next)
        links++
        rest.unshift(...target.split("/"))
        if (isAbsolute(target)) at = "/"
      } catch {
        at = next // no link
      }
    }
    return join(at, ...rest)
  }
  // linked are the files of a permission that lead elsewhere: they, or folders of them, are links. The conversation's own folder may be one.
  const linked = ({ filepath, files }) => {
    const base = directory && real(directory)
    const named = files?.flatMap((f) => [f.filePath, f.movePath]) ?? [filepath]
    const usual = (file) => (base && file.startsWith(directory + "/") ? join(base, file.slice(directory.length)) : join(file))
    return named.filter((file) => file?.startsWith?.("/")).map((file) => ({ file, target: real(file) })).filter(({ file, target }) => target !== usual(file))
  }
  const parse = (text) => {
    try {
      return JSON.parse(text)
    } catch {
      return undefined
    }
  }

  // ask waits for the answer to a request, beside the reports that follow.
  const ask = (body, give) => {
    run(["--ask", "24h", "24h"], body, 0, (hook) => hooks.set(body.request, hook)).then(async ({ out }) => {
      hooks.delete(body.request)
      const answer = parse(out)
      if (answer) await give(answer).catch(() => {})
    })
  }
  const answered = (request) => {
    const hook = hooks.get(request)
    if (hook && hook.exitCode === null) hook.kill()
  }
  // A refusal ends the turn, unless the model takes another step.
  const rejects = (id) => (talk(id).rejected = talk(id).step ?? "step")
  const post = async (path, body) => {
    const { response } = await client._client.post({ url: path, body, headers: { "Content-Type": "application/json" } })
    if (!response?.ok) throw new Error(`opencode answers ${response?.status} to ${path}`)
  }

  const talk = (id) => {
    if (!talks.has(id)) talks.set(id, { busy: false, turn: "", texts: new Map(), users: new Set(), took: new Map(), text: "" })
    return talks.get(id)
  }
  const family = async (id) => {
    if (!families.has(id)) {
      const found = await client.session.get({ path: { id } }).catch(() => undefined)
      learn(found?.data ?? { id })
    }
    return families.get(id)
  }
  const learn = (info) => {
    families.set(info.id, { parent: info.parentID ?? "", kind: info.agent ?? "" })
    version = info.version ?? version
  }

  // from says whose event it is: the conversation at the terminal, and the subagent within it.
  const from = async (id) => {
    let root = id
    for (let f = await family(root), depth = 0; f.parent && depth < 16; f = await family(root), depth++) root = f.parent
    const who = { session: root, version }
    return root === id ? who : { ...who, agent: id, agent_type: families.get(id).kind }
  }

  // follow reports another conversation at the terminal, before its first turn.
  const follow = async (id, fresh) => {
    if (id === current) return
    const source = current ? "clear" : fresh ? "startup" : "resume"
    current = id
    const out = await wait(berth.start, { event: "conversation", session: id, version, source })
    const context = out?.hookSpecificOutput?.additionalContext
    if (context) contexts.set(id, context)
  }

  // remember makes a file that says that the conversation can be resumed.
  const remember = (id) => {
    try {
      if (berth.talks) appendFileSync(`${berth.talks}/${id}.jsonl`, "")
    } catch {} // the disk is full, or an agent has removed the folder
  }

  const born = new Set()
  const starts = async (id, text, message) => {
    const who = await from(id)
    if (!who.agent) await follow(who.session, born.has(id))
    const t = talk(id)
    if (t.busy) {
      t.texts.set(message, text)
      return tell({ event: "queued", ...who, text })
    }
    t.busy = true
    if (t.gate && t.gate === text) { // the turn goes on
      t.gate = ""
      return tell({ event: "gated", ...who, turn: t.turn })
    }
    Object.assign(t, { turn: message ?? "", took: new Map(), gate: "" })
    if (!who.agent) remember(who.session)
    await tell({ event: "turn", ...who, turn: t.turn, text })
  }

  // final says that a part of a message is as it stays: while the model writes there are many that aren't.
  const final = ({ type, time, state }) => (type === "text" && time?.end) || (type === "tool" && ["completed", "error"].includes(state.status))

  const events = {
    "session.created": async ({ info }) => {
      learn(info)
      born.add(info.id)
    },
    "session.updated": async ({ info }) => learn(info),
    "session.status": async ({ sessionID: id, status }) => {
      if (status.type === "busy" && !talk(id).busy) await starts(id, "")
      talk(id).retries = status.type === "retry"
      if (status.type === "retry") await tell({ event: "retry", ...(await from(id)), attempt: status.attempt, text: status.message, delay: status.next - Date.now() })
    },
    "session.compacted": async ({ sessionID: id }) => tell({ event: "compacted", ...(await from(id)) }),
    "session.error": async ({ sessionID: id, error }) => {
      const { message, statusCode, responseBody } = error?.data ?? {}
      if (id && error) talk(id).error = { name: error.name, message, status: statusCode, body: responseBody }
    },
    "session.idle": async ({ sessionID: id }) => {
      const t = talk(id)
      forget(id)
      if (!t.busy && !(t.gate && t.error)) return
      talks.delete(id)
      const body = { event: "idle", ...(await from(id)), turn: t.turn, took: [...t.took.values()], text: t.text, error: t.error, stopped: !!(t.rejected || t.retries) }
      if (body.agent || body.error || body.stopped) return tell(body)
      const out = await wait(berth.end, body)
      if (out?.decision !== "block") return
      talks.set(id, { ...t, busy: false, text: "", gate: out.reason })
      // Its message waits for this report's end. Without it the turn is over.
      post(`/session/${id}/prompt_async`, { parts: [{ type: "text", text: out.reason }] }).catch(() =>
        next(async () => {
          if (talk(id).busy || talk(id).gate !== out.reason) return
          talks.delete(id)
          await tell(body)
        }),
      )
    },
    "message.updated": async ({ info }) => {
      const t = talk(info.sessionID)
      if (info.role === "user") return t.users.add(info.id)
      if (t.rejected && info.id !== t.rejected) { // the model goes on after a refusal with words
        t.rejected = ""
        await tell({ event: "step", ...(await from(info.sessionID)), turn: t.turn })
      }
      if (!(info.id <= t.step)) forget(info.sessionID)
      t.step = info.id
      const text = t.texts.get(info.parentID)
      if (text !== undefined) {
        t.texts.delete(info.parentID)
        t.turn = info.parentID
        await tell({ event: "turn", ...(await from(info.sessionID)), turn: t.turn, text })
      }
      if (info.time.completed && info.finish) t.took.set(info.id, { model: info.modelID, ...info.tokens })
    },
    "message.part.updated": async ({ part }) => {
      const t = talk(part.sessionID)
      if (part.type === "text" && !t.users.has(part.messageID)) t.text = part.text
      if (part.type !== "tool" || !ends(callKey(part.sessionID, part.callID))) return
      await tell({ event: "tool.after", ...(await from(part.sessionID)), tool: part.tool, call: part.callID, input: part.state.input, status: part.state.status })
    },
    "permission.asked": async (p) => {
      const { filediff, files, ...metadata } = p.metadata ?? {}
      const about = subject(p)
      const body = { event: "permission.asked", ...(await from(p.sessionID)), turn: talk(p.sessionID).turn, request: p.id, permission: p.permission, patterns: p.patterns, always: p.always }
      asked.set(p.id, about)
      Object.assign(body, { metadata, links: linked(p.metadata ?? {}), ...about })
      ask(body, (answer) => post(`/permission/${p.id}/reply`, answer))
    },
    "permission.replied": async (p) => {
      answered(p.requestID)
      if (p.reply === "reject") rejects(p.sessionID)
      const about = asked.get(p.requestID)
      asked.delete(p.requestID)
      await tell({ event: "permission.replied", ...(await from(p.sessionID)), request: p.requestID, reply: p.reply, ...about })
    },
    "question.asked": async (q) => {
      const body = { event: "question.asked", ...(await from(q.sessionID)), turn: talk(q.sessionID).turn, request: q.id, questions: q.questions, call: q.tool?.callID }
      ask(body, (answer) => post(`/question/${q.id}/${answer.answers ? "reply" : "reject"}`, answer.answers ? answer : {}))
    },
    "question.replied": async (q) => {
      answered(q.requestID)
      await tell({ event: "question.replied", ...(await from(q.sessionID)), request: q.requestID })
    },
    "question.rejected": async (q) => {
      answered(q.requestID)
      rejects(q.sessionID)
      await tell({ event: "question.rejected", ...(await from(q.sessionID)), request: q.requestID })
    },
  }

  return {
    event: async ({ event }) => {
      const read = events[event.type]
      if (read && (event.type !== "message.part.updated" || final(event.properties.part))) next(() => read(event.properties))
    },
    "chat.message": async ({ sessionID }, { message, parts }) => {
      const text = parts.filter((p) => p.type === "text" && !p.synthetic).map((p) => p.text).join("\n")
      await next(() => starts(sessionID, text, message.id))
    },
    "tool.execute.before": async ({ tool, sessionID, callID }, { args }) => {
      const call = { id: callID, tool, input: args, told: false }
      begins(callKey(sessionID, callID), call) // its permission needs it, also when its report is dropped
      await next(async () => tell({ event: "tool.before", ...(await from(sessionID)), tool, call: callID, input: args }))
      call.told = true
    },
    "tool.execute.after": async ({ sessionID, callID }) => {
      const key = callKey(sessionID, callID)
      const by = key.slice(0, key.lastIndexOf("/"))
      if (calls.get(by)?.all.some((c) => c.tool === code)) calls.delete(key)
    },
    "experimental.chat.system.transform": async ({ sessionID }, { system }) => {
      const context = contexts.get(sessionID)
      if (context) system.push(context)
    },
  }
}
