import test from 'ava'
import { effort } from '../support/effort.ts'
import { eventually } from '../support/eventually.ts'
import { addCheck, addProject } from '../support/projects.ts'
import { send } from '../support/send.ts'
import { isAcceptable, sendConcurrently } from './concurrent-requests.ts'
import { type FullProject, openFullProject } from './full-project.ts'
import { fullRequest, monitoringRoutes } from './full-requests.ts'
import type { FuzzRoute } from './routes.ts'
import { openTarget, type Target } from './target.ts'

/** Concurrent requests of one route. */
const AT_ONCE = effort(4, 40)
/** All routes take minutes on a slow machine. In parts the test shows progress. */
const PARTS = 8

let target: Target
let full: FullProject
let routes: readonly FuzzRoute[]
/** The check of another tenant. */
let check: { id: number; uuid: string }
let pings = 0
test.before(async (t) => {
  t.timeout(240_000)
  target = await openTarget()
  full = await openFullProject(target.app)
  routes = monitoringRoutes(target.routes, full)
  const other = await addProject(target.app.deps)
  check = await addCheck(target.app.deps, other.project.id, { timeoutSeconds: 86_400 })
})
test.after.always(() => target?.[Symbol.asyncDispose]())

for (let part = 1; part <= PARTS; part++) {
  test.serial(`concurrent requests of a full project harm no other tenant: ${part} of ${PARTS}`, async (t) => {
    t.true(routes.length > 120, `${routes.length} routes`)
    const perPart = Math.ceil(routes.length / PARTS)
    const wrong: string[] = []
    for (const [at, route] of routes.entries()) {
      if (Math.floor(at / perPart) === part - 1) wrong.push(...(await wrongOf(route, at)))
    }
    t.deepEqual(wrong, [])
  })
}

test.serial('the processes keep running and lose no ping of the other tenant', async (t) => {
  for (const [name, { pid, output }] of Object.entries(target.processes)) {
    t.notThrows(() => process.kill(pid, 0), `${name}:\n${output().slice(-2_000)}`)
  }
  const stored = async () => await target.app.db('checks').where({ id: check.id }).first('n_pings', 'status')
  t.true(pings >= routes.length)
  await eventually('all pings of the other tenant to be stored', async () => {
    return Number((await stored())?.n_pings) === pings
  })
  t.is((await send(ingress(), `/ping/${check.uuid}/fail`)).status, 200)
  await eventually('the check of the other tenant to be down', async () => (await stored())?.status === 'down')
})

function ingress(): string {
  return `http://127.0.0.1:${target.httpPort}`
}

/** Sends concurrent requests of a route while the other tenant pings. @returns wrong responses */
async function wrongOf(route: FuzzRoute, round: number): Promise<string[]> {
  const responses = sendConcurrently(target.httpPort, fullRequest(route, full, round), AT_ONCE)
  const refused = await pingDuring(responses)
  const heads = await responses
  const wrong = heads.filter((head) => !isAcceptable(head) || head.startsWith('HTTP/1.1 401 '))
  const isCacheable = (head: string) => / 2\d\d /.test(head.slice(8, 13)) && !/^cache-control: .*no-store/im.test(head)
  const cacheable = route.isSecured ? heads.filter(isCacheable) : []
  const lines = new Set([
    ...refused,
    ...cacheable.map((head) => `may be cached: ${head.split('\r\n', 1)[0]}`),
    ...wrong.map((head) => head.split('\r\n', 1)[0]),
  ])
  await eventually('the processes to be ready', async () => {
    const answers = await Promise.all([ingress(), target.workersUrl].map((base) => send(base, '/readyz')))
    return answers.every(({ status }) => status === 200)
  })
  return [...lines].map((line) => `${route.method} ${route.path}: ${line}`)
}

/** Pings as the other tenant until other work is done. @returns pings that were refused */
async function pingDuring(work: Promise<unknown>): Promise<string[]> {
  const refused: string[] = []
  let isOver = false
  const over = () => (isOver = true)
  work.then(over, over)
  do {
    const ping = await send(ingress(), `/ping/${check.uuid}`, pings % 2 === 0 ? {} : { method: 'POST', body: 'done' })
    pings += 1
    if (ping.status !== 200) refused.push(`ping ${ping.status}`)
  } while (!isOver)
  return refused
}
