import { randomUUID } from 'node:crypto'
import test from 'ava'
import type { HttpProduct } from '../../support/product.ts'
import { addIntegration } from '../../support/projects.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { addCheck, createTeam, join, type Team } from './people.ts'
import type { Visitor } from './visitor.ts'

interface Fixture {
  team: Team
  owner: Visitor
  list: string
  /** the row of a check in the list */
  row(check: string, query?: string): Promise<string>
}

let app: HttpProduct

test.before(async () => {
  app = await sharedProduct({ workers: ['sweeper'] })
})

async function setUp(): Promise<Fixture> {
  const team = await createTeam(app, 'Team')
  const owner = await join(app, team, 'owner')
  const list = `/projects/${team.project.uuid}/checks`
  const row = async (check: string, query = '') =>
    new RegExp(`<tr class="[^"]*" id="check-${check}"[\\s\\S]*?</tr>`).exec(
      (await owner.get(list + query)).text,
    )?.[0] ?? ''
  return { team, owner, list, row }
}

test('a mute from the list shows its end and can be removed', async (t) => {
  const { team, owner, list, row } = await setUp()
  const [muted, other] = [await addCheck(owner, team, { name: 'db' }), await addCheck(owner, team, { name: 'web' })]
  await owner.post(`/checks/${muted}/mute`, { back: list }, list)
  t.regex(await row(muted), /title="Muted until 20\d\d-[^"]*: no alerts"[\s\S]* data-muted=/)
  t.notRegex(await row(other), /Muted until/)
  t.not(await row(muted, '?quiet=maintenance'), '')
  t.is(await row(other, '?quiet=maintenance'), '')
  t.regex((await owner.get(list)).text, /Muted or in maintenance <b>1<\/b>/)
  t.regex((await owner.get(`${list}?wall=1`)).text, /Muted until <time/)
  t.regex((await owner.get(`/checks/${muted}`)).text, /Muted until <time/)
  await owner.post(`/checks/${muted}/unmute`, { back: list }, list)
  t.notRegex(await row(muted), /Muted until/)
})

test('a mute of several checks ends for one and continues for the other', async (t) => {
  const { team, owner, list, row } = await setUp()
  const [one, other] = [await addCheck(owner, team, { name: 'one' }), await addCheck(owner, team, { name: 'two' })]
  const bulk = async (hours: string, checks: readonly string[]) => {
    const fields = [
      ['_csrf', await owner.token(list)],
      ['do', 'mute'],
      ['hours', hours],
      ['back', list],
    ]
    const body = new URLSearchParams([...fields, ...checks.map((check) => ['check', check])])
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    return await owner.sendBody(`/projects/${team.project.uuid}/checks/bulk`, body.toString(), headers)
  }
  t.is((await bulk('24', [one, other])).status, 303)
  t.regex(await row(one), /Muted until/)
  await owner.post(`/checks/${one}/unmute`, { back: list }, list)
  t.notRegex(await row(one), /Muted until/)
  t.regex(await row(other), /Muted until/)
  t.is((await bulk('1000', [one])).status, 400)
})

test('an acknowledged check has an icon and a filter', async (t) => {
  const { team, owner, list, row } = await setUp()
  const [down, other] = [await addCheck(owner, team, { name: 'db' }), await addCheck(owner, team, { name: 'web' })]
  const check = await app.db('checks').where({ uuid: down }).first('id')
  await app.db('incidents').insert({
    id: randomUUID(),
    project_id: team.project.id,
    check_id: check?.id,
    state: 'acknowledged',
    is_direct: false,
    severity: 'critical',
    down_at: new Date(),
    ack_at: new Date(),
    ack_by: 'anna@example.org',
  })
  t.regex(await row(down), /title="Acknowledged by anna@example\.org: no alerts"/)
  t.is(await row(other, '?quiet=acknowledged'), '')
  t.not(await row(down, '?quiet=acknowledged'), '')
  t.regex((await owner.get(list)).text, /Acknowledged <b>1<\/b>/)
})

test('the list shows integrations of the policy without a switch', async (t) => {
  const { team, owner, row } = await setUp()
  const [own, byPolicy] = [
    await addIntegration(app.deps, team.project.id, 'Own'),
    await addIntegration(app.deps, team.project.id, 'Duty'),
  ]
  const check = await addCheck(owner, team, { name: 'db', tags: 'prod' })
  await owner.post('/checks/toggle', { [check]: own.uuid }, `/checks/${check}`)
  const button = async (name: string) =>
    new RegExp(`<button[^>]*title="${name} [^"]*"[^>]*>`).exec(await row(check))?.[0] ?? ''
  t.regex(await button('Own'), /aria-pressed="true"/)
  await app.db('alert_policies').insert({
    project_id: team.project.id,
    name: 'On duty',
    match: 'prod',
    plan: JSON.stringify({
      when: { failures: 1, of: null, down_for: 0, successes: 1 },
      steps: [{ wait: 0, channels: [byPolicy.uuid], severity: 'info', repeat: null, hours: [], outside: 'wait' }],
      group: { checks: 20, within: 0 },
      flapping: null,
      ack_timeout: null,
    }),
  })
  t.regex(await button('Own'), /aria-pressed="false"[^>]*title="[^"]*, set by the policy On duty"[^>]*disabled/)
  t.regex(await button('Duty'), /aria-pressed="true"[^>]*title="[^"]*, set by the policy On duty"[^>]*disabled/)
})
