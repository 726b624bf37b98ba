import test from 'ava'
import type { CacheChange } from '#shared/contracts/ingress-messages.ts'
import { ConflictError, ForbiddenError, NotFoundError, ValidationError } from '#shared/errors.ts'
import type { JsonObject } from '#shared/monitoring/checks/json-body.ts'
import {
  copyCheck,
  createCheck,
  deleteCheck,
  pauseCheck,
  resumeCheck,
  updateCheck,
} from '#shared/monitoring/operations/checks.ts'
import { importProject } from '#shared/monitoring/operations/import-project.ts'
import { transferCheck } from '#shared/monitoring/operations/projects.ts'
import type { Actor } from '#shared/tenancy/actor.ts'
import type { HttpProduct } from '../../../support/product.ts'
import { addProject } from '../../../support/projects.ts'
import { sharedProduct } from '../../../support/shared-product.ts'

let app: HttpProduct

test.before(async () => {
  app = await sharedProduct()
})

const operator: Actor = { kind: 'operator', name: 'root' }
const agent: Actor = { kind: 'agent', id: 'K7', name: 'helper', address: '192.0.2.7' }
const key: Actor = { kind: 'key', id: 1, label: 'CI', owner: 'tests', address: '192.0.2.7' }

/** Collects announcements. The barrier returns a lag without waiting. */
function dependencies() {
  const announced: CacheChange[] = []
  const { config, secrets, now } = app.deps
  const barrier = { pass: async () => 7 }
  return {
    announced,
    config,
    secrets,
    outbox: null,
    now,
    barrier,
    announce: (one: CacheChange) => void announced.push(one),
  }
}

const body = (members: Record<string, string | number>): JsonObject => Object.assign(Object.create(null), members)

async function entries(organisationId: number): Promise<string[]> {
  const rows = await app.deps.db('audit_log').where({ organisation_id: organisationId }).orderBy('id')
  return rows.map(({ actor, action, target }) => `${actor}: ${action} ${target}`)
}

test('every operation on a check is audited with its actor and announced', async (t) => {
  const { db } = app.deps
  const { project } = await addProject(app.deps)
  const deps = dependencies()
  const input = { project, body: body({ name: 'Job' }), slugFromName: false }
  const { check, isNew } = await createCheck(db, operator, input, deps)
  t.true(isNew)
  const target = { project, id: check.id, uuid: check.uuid }
  await updateCheck(db, agent, { ...target, body: body({ tags: 'night' }), slugFromName: false }, deps)
  const paused = await pauseCheck(db, agent, target, deps)
  t.deepEqual([paused.check.status, paused.lagMs], ['paused', 7])
  t.is((await resumeCheck(db, agent, target, deps)).check.status, 'new')
  await deleteCheck(db, operator, target, deps)
  t.deepEqual(await entries(project.organisationId), [
    'operator root: check.created Job',
    'agent key K7 (helper): check.changed Job: tags',
    'agent key K7 (helper): check.paused Job',
    'agent key K7 (helper): check.resumed Job',
    'operator root: check.deleted Job',
  ])
  const change = { kind: 'check', uuid: check.uuid, projectId: project.id }
  t.deepEqual(deps.announced, [change, change, change, change, change])
})

test('operations of an API key are audited, those of a client not', async (t) => {
  const { project } = await addProject(app.deps)
  const client: Actor = { kind: 'client', id: 'C3', owner: 'tests', address: '192.0.2.7' }
  for (const actor of [key, client])
    await createCheck(app.deps.db, actor, { project, body: body({ name: 'Job' }), slugFromName: false }, dependencies())
  t.deepEqual(await entries(project.organisationId), ['API key 1 (CI) of tests: check.created Job'])
})

test('a change that cannot be audited is rolled back', async (t) => {
  const { project } = await addProject(app.deps)
  const deps = dependencies()
  const deleted: Actor = { kind: 'person', userId: 987_654_321, email: 'deleted@example.org', address: '' }
  await t.throwsAsync(createCheck(app.deps.db, deleted, { project, body: body({}), slugFromName: false }, deps))
  t.deepEqual(await app.deps.db('checks').where({ project_id: project.id }), [])
  t.deepEqual(deps.announced, [])
})

test('the limit of checks refuses creating, copying and transferring, and is audited', async (t) => {
  const { db } = app.deps
  const { project } = await addProject(app.deps, { checkLimit: 1 })
  const { project: full } = await addProject(app.deps, { checkLimit: 1 })
  const deps = dependencies()
  const input = { project, body: body({ name: 'One' }), slugFromName: false }
  const { check } = await createCheck(db, operator, input, deps)
  await createCheck(db, operator, { ...input, project: full }, deps)
  const refused = { instanceOf: ForbiddenError, message: 'The project has reached its limit of checks.' }
  await t.throwsAsync(createCheck(db, operator, input, deps), refused)
  await t.throwsAsync(copyCheck(db, operator, { project, check }, deps), refused)
  await t.throwsAsync(transferCheck(db, operator, { uuid: check.uuid, from: project, to: full }, deps), {
    instanceOf: ConflictError,
    message: 'That project has reached its limit of checks.',
  })
  t.deepEqual(await entries(project.organisationId), [
    'operator root: check.created One',
    'service: project.check-limit-reached tests: 1',
  ])
  t.is(deps.announced.length, 2)
})

test('a transfer is in the audit log of both organisations', async (t) => {
  const { db } = app.deps
  const [{ project: from }, { project: to }] = [await addProject(app.deps), await addProject(app.deps)]
  const deps = dependencies()
  const { check } = await createCheck(
    db,
    key,
    { project: from, body: body({ name: 'Job' }), slugFromName: false },
    deps,
  )
  await transferCheck(db, operator, { uuid: check.uuid, from, to }, deps)
  t.deepEqual(await entries(from.organisationId), [
    'API key 1 (CI) of tests: check.created Job',
    'operator root: check.transferred Job to tests',
  ])
  t.deepEqual(await entries(to.organisationId), ['operator root: check.received Job from tests'])
  t.deepEqual(
    deps.announced.slice(1).map(({ projectId }) => projectId),
    [from.id, to.id],
  )
})

test('refused operations on a check are neither audited nor announced', async (t) => {
  const { db } = app.deps
  const { project } = await addProject(app.deps)
  const deps = dependencies()
  const { check } = await createCheck(db, key, { project, body: body({}), slugFromName: false }, deps)
  const target = { project, id: check.id, uuid: check.uuid }
  await t.throwsAsync(resumeCheck(db, operator, target, deps), {
    instanceOf: ConflictError,
    message: 'check is not paused',
  })
  const wrong = { ...target, body: body({ timeout: 1 }), slugFromName: false }
  await t.throwsAsync(updateCheck(db, operator, wrong, deps), { instanceOf: ValidationError })
  await deleteCheck(db, key, target, deps)
  for (const operation of [pauseCheck, resumeCheck, deleteCheck]) {
    await t.throwsAsync(operation(db, operator, target, deps), {
      instanceOf: NotFoundError,
      message: 'The check does not exist any more.',
    })
  }
  const byKey = (await entries(project.organisationId)).map((entry) => /check\.\w+/.exec(entry)?.[0])
  t.deepEqual(byKey, ['check.created', 'check.deleted'])
  t.is(deps.announced.length, 2)
})

test('only an applied import is audited and announced', async (t) => {
  const { db } = app.deps
  const { project } = await addProject(app.deps)
  const deps = dependencies()
  const uuid = crypto.randomUUID()
  const document: JsonObject = Object.assign(Object.create(null), { checks: [body({ uuid, name: 'Job' })] })
  const plan = await importProject(db, operator, { project, document, apply: false }, deps)
  t.is(plan.checks.create.length, 1)
  t.deepEqual([await entries(project.organisationId), deps.announced], [[], []])
  await importProject(db, operator, { project, document, apply: true }, deps)
  t.deepEqual(await entries(project.organisationId), [
    'operator root: project.imported tests: 1 checks created, 0 changed',
  ])
  t.deepEqual(deps.announced, [{ kind: 'check', uuid, projectId: project.id }])
})
