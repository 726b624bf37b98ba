import test from 'ava'
import { NotFoundError, ValidationError } from '#shared/errors.ts'
import { findIntegration } from '#shared/monitoring/integrations/store.ts'
import { createIntegration, deleteIntegration, updateIntegration } from '#shared/monitoring/operations/integrations.ts'
import { requestVerificationAgain } from '#shared/monitoring/operations/recipients.ts'
import type { Project } from '#shared/monitoring/projects/store.ts'
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
const mail = (project: Project, value: string) => ({ project, kind: 'email', name: 'Mail', config: { value } })

async function actions(organisationId: number): Promise<string[]> {
  const rows = await app.deps.db('audit_log').where({ organisation_id: organisationId }).orderBy('id')
  return rows.map(({ actor, action, target }) => `${actor}: ${action} ${target}`)
}

test('requests the consent of an e-mail recipient, except for the operator', async (t) => {
  const { db } = app.deps
  const { project } = await addProject(app.deps)
  const trusted = await createIntegration(db, operator, mail(project, 'a@example.org'), { ...app.deps, outbox: null })
  const requested = await createIntegration(db, agent, mail(project, 'b@example.org'), app.deps)
  t.deepEqual([trusted.isEmailVerified, requested.isEmailVerified], [true, false])
  const elsewhere = { project, integration: trusted, config: { value: 'c@example.org' } }
  t.deepEqual(await updateIntegration(db, agent, elsewhere, app.deps), { isRefreshing: true })
  await requestVerificationAgain(agent, { project, integration: requested }, app.deps)
  await t.throwsAsync(requestVerificationAgain(agent, { project, integration: trusted }, app.deps), {
    instanceOf: NotFoundError,
  })
  t.deepEqual(await actions(project.organisationId), [
    'operator root: integration.created Mail (E-mail)',
    'agent key K7 (helper): integration.created Mail (E-mail)',
    'agent key K7 (helper): integration.changed Mail (E-mail)',
    'agent key K7 (helper): integration.recipient-requested Mail',
  ])
})

test('enabling and disabling are audited, and a second deletion fails', async (t) => {
  const { db } = app.deps
  const { project } = await addProject(app.deps)
  const deps = { ...app.deps, outbox: null }
  const integration = await createIntegration(db, operator, mail(project, 'a@example.org'), deps)
  await updateIntegration(db, operator, { project, integration, disabled: true }, deps)
  t.truthy((await findIntegration(db, project.id, integration.uuid))?.disabledAt)
  await updateIntegration(db, operator, { project, integration, disabled: false }, deps)
  t.is((await findIntegration(db, project.id, integration.uuid))?.disabledAt, null)
  await deleteIntegration(db, operator, { project, integration })
  await t.throwsAsync(deleteIntegration(db, operator, { project, integration }), {
    instanceOf: NotFoundError,
    message: 'The integration does not exist any more.',
  })
  t.deepEqual((await actions(project.organisationId)).slice(1), [
    'operator root: integration.disabled Mail',
    'operator root: integration.enabled Mail',
    'operator root: integration.deleted Mail',
  ])
})

for (const [change, message] of [
  [{ name: 'a\nb' }, 'name must be a string of one line'],
  [{ disabled: 'yes' }, 'disabled must be true or false'],
  [{ config: [] }, 'config must be an object'],
  [{ name: 1, disabled: 'yes', config: [] }, 'name must be a string of one line'],
] as const)
  test(`${JSON.stringify(change)} of an integration is refused: ${message}`, async (t) => {
    const { project } = await addProject(app.deps)
    const deps = { ...app.deps, outbox: null }
    const integration = await createIntegration(app.deps.db, operator, mail(project, 'a@example.org'), deps)
    await t.throwsAsync(updateIntegration(app.deps.db, operator, { project, integration, ...change }, deps), {
      instanceOf: ValidationError,
      message,
    })
    t.is((await actions(project.organisationId)).length, 1)
  })
