import test from 'ava'
import { eventually } from '../support/eventually.ts'
import { openProduct } from '../support/product.ts'
import { addCheck } from '../support/projects.ts'
import { auditPings, Ledger, sendPings } from './ledger.ts'
import { lockTable } from './lock-table.ts'

test.serial('requests to a locked table end within their deadline, and health checks still respond', async (t) => {
  await using product = await openProduct({ env: { DATABASE_TIMEOUT_MS: '5000', DB_POOL: '5' } })
  const project = await product.project()
  const { base, deps } = await product.ingress()
  const check = await addCheck(deps, project.id)
  await product.workers(['ping-evaluator'])
  t.is((await fetch(`${base}/ping/${check.uuid}`)).status, 200)
  const headers = { 'X-Api-Key': project.apiKey }
  const pings = () =>
    fetch(`${base}/api/v3/checks/${check.uuid}/pings/`, { headers, signal: AbortSignal.timeout(40_000) })
  t.is((await pings()).status, 200)

  await using held = await lockTable(product.db, 'pings')
  const requested = Array.from({ length: 100 }, pings)
  t.is((await fetch(`${base}/livez`)).status, 200)
  const problems = await deps.readiness.problems()
  t.false(/database/.test(problems.join()), `the reserve serves health: ${problems.join()}`)
  t.is((await fetch(`${base}/ping/${check.uuid}`)).status, 200, 'accepting a ping needs no table')
  const answers = await Promise.all(requested)
  t.deepEqual([...new Set(answers.map(({ status }) => status))], [503])
  t.true(answers.every((answer) => answer.headers.get('Retry-After') !== null))
  await held.release()
  await eventually('both pings to be listed', async () => {
    const answer = await pings()
    return answer.status === 200 && JSON.parse(await answer.text()).pings.length === 2
  })
  t.true(deps.db.client.pool.numUsed() <= 5)
})

test.serial('transactions with serialization failures are retried and counted once', async (t) => {
  await using product = await openProduct()
  const project = await product.project()
  const { base, deps } = await product.ingress()
  const checks = await Promise.all(Array.from({ length: 10 }, () => addCheck(deps, project.id)))
  // A sequence is not rolled back: two of three tries fail.
  await product.db.raw(`
    CREATE SEQUENCE tries;
    CREATE FUNCTION fail_at_first() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF nextval('tries') % 3 <> 0 THEN RAISE EXCEPTION 'try again' USING ERRCODE = '40001'; END IF;
        RETURN NULL;
      END $$;
    CREATE TRIGGER fail_at_first AFTER INSERT ON pings FOR EACH STATEMENT EXECUTE FUNCTION fail_at_first();
    CREATE TRIGGER fail_at_first AFTER INSERT ON checks FOR EACH STATEMENT EXECUTE FUNCTION fail_at_first();
  `)
  const headers = { 'X-Api-Key': project.apiKey }
  const created = await fetch(`${base}/api/v3/checks/`, { method: 'POST', headers, body: '{"name":"tried"}' })
  t.is(created.status, 201)
  await product.workers(['ping-evaluator'])
  const ledger = new Ledger()
  let started = 0
  await sendPings({
    base: () => base,
    checks: checks.map(({ uuid }) => uuid),
    connections: 8,
    ledger,
    more: () => started++ < 200,
  })
  t.deepEqual(await auditPings(product, ledger), [])
  t.is(ledger.count('accepted'), 200)
})
