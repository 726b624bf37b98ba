import test from 'ava'
import { eventually } from '../../support/eventually.ts'
import { openProduct } from '../../support/product.ts'
import { addCheck, createTeam, join } from './people.ts'

test('an extended deadline is explained, and its days are hatched', async (t) => {
  await using app = await openProduct({ listener: 'http' })
  const { db } = app
  const team = await createTeam(app, 'Blind')
  const owner = await join(app, team, 'owner')
  const uuid = await addCheck(owner, team, { name: 'nightly' })
  const { id } = await db('checks').where({ uuid }).first('id')
  const from = new Date(Math.floor(Date.now() / 1000) * 1000 - 5 * 86_400_000)
  const after = (hours: number) => new Date(from.getTime() + hours * 3_600_000)
  const text = (hours: number) => after(hours).toISOString().slice(0, 19).replace('T', ' ')
  const state = {
    status: 'up',
    n_pings: 1,
    last_ping: from,
    timeout_seconds: 4_320_000,
    grace_seconds: 3600,
    alert_after: after(1000),
  }
  await db('checks')
    .where({ id })
    .update({ ...state, created_at: from, deadline_extended_at: after(26) })
  await db('flips').insert({ check_id: id, at: from, from_status: 'new', to_status: 'up', processed_at: from })
  await db('unknown_periods').insert({
    check_id: id,
    gap_from: after(24),
    gap_until: after(26),
    from_at: after(24),
    expected_at: after(25),
    next_at: after(1000),
    reason: 'GAP',
  })
  await db('status_pages').insert({ project_id: team.project.id, token: 'U'.repeat(22), title: 'Ours' })
  const page = async () => (await owner.get(`/checks/${uuid}`)).text
  const words = async () => (await page()).replace(/<[^>]*>/g, '').replace(/\s+/g, ' ')
  const notice = `Status unknown: a ping was expected at ${text(24)} UTC, during an outage on our side. Next deadline: ${text(1000)} UTC.`
  t.true((await words()).includes(notice))
  // Each hatched day is one "M" command of the path.
  const hatched = (html: string) => /class="hatch" d="([^"]*)"/.exec(html)?.[1]?.match(/M/g)?.length ?? 0
  t.true(hatched(await page()) >= 4, 'the days before the first ping are unknown')
  t.regex(await page(), /Partly unknown on \d days\./)
  const status = await eventually('the status page', async () => {
    const { text: html } = await owner.get(`/status/${'U'.repeat(22)}`)
    return html.includes('nightly') && html
  })
  t.is(hatched(status), hatched(await page()))
  t.regex(status, /no downtime, partly unknown/)
  t.regex(status, /100 %/)

  await db('unknown_periods').update({ until_at: after(27) })
  t.false((await words()).includes('Unknown:'), 'a ping ends the unknown time')
  t.is(hatched(await page()), after(24).getUTCDate() === after(27).getUTCDate() ? 1 : 2)
  await db('unknown_periods').update({ until_at: null })
  await db('checks')
    .where({ id })
    .update({ last_ping: after(28) })
  t.false((await words()).includes('Unknown:'), 'a ping ends the unknown time before a sweep')
})

test('a project lists gaps and can disable notices about them', async (t) => {
  // No sweeper runs: it would delete gaps without a missing heartbeat, and add those of a stopped process.
  await using app = await openProduct({ listener: 'http' })
  const team = await createTeam(app, 'Gaps')
  const owner = await join(app, team, 'owner', 'owner@gaps.example')
  const base = `/projects/${team.project.uuid}`
  const [{ id }] = await app.db('coverage_gaps').insert(
    {
      listener: 'http',
      shards: 1,
      from_at: app.db.raw(`now() - interval '50 minutes'`),
      until_at: app.db.raw(`now() - interval '20 minutes'`),
      kind: 'full',
      cause: 'process lost',
    },
    'id',
  )
  const banner = /Pings could not be received from .* UTC \(30 minutes\)\. No check became unknown because of it\./
  t.regex((await owner.get(`${base}/checks`)).text, banner)
  const page = await owner.get(`${base}/gaps`)
  t.is(page.status, 200)
  t.regex(page.text, /Pings by HTTP could not be received \(process lost\)/)
  const uuid = await addCheck(owner, team, { name: 'nightly' })
  const log = async (query = '') => (await owner.get(`/checks/${uuid}${query}`)).text
  t.notRegex(await log(), /Pings could not be received for/, 'the check was created after the gap')
  await app
    .db('checks')
    .where({ uuid })
    .update({ created_at: new Date(0) })
  t.is((await log()).match(/Pings could not be received for 30 min\./g)?.length, 1)
  t.regex(await log('?log=gap'), /Pings could not be received for/)
  t.notRegex(await log('?log=ping'), /Pings could not be received for/)
  for (const other of [{ listener: 'smtp' }, { shards: 2 }]) {
    await app.db('coverage_gaps').where({ id }).update(other)
    t.notRegex(await log(), /Pings could not be received for/, 'the gap affected another listener or shard')
    await app.db('coverage_gaps').where({ id }).update({ listener: 'http', shards: 1 })
  }
  await app
    .db('coverage_gaps')
    .where({ id })
    .update({
      from_at: app.db.raw(`now() - interval '30 hours'`),
      until_at: app.db.raw(`now() - interval '25 hours'`),
    })
  t.notRegex((await owner.get(`${base}/checks`)).text, /Pings could not be received/)
  await app.db('coverage_gaps').where({ id }).del()

  t.regex((await owner.get(`${base}/settings`)).text, /name="notify"[^>]*checked/)
  t.is((await owner.post(`${base}/settings/unknown`, {}, `${base}/settings`)).status, 303)
  t.notRegex((await owner.get(`${base}/settings`)).text, /name="notify"[^>]*checked/)
  t.false((await app.db('projects').where({ uuid: team.project.uuid }).first()).notify_unknown)
})
