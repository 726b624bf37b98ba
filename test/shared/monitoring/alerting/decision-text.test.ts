import test from 'ava'
import { decisionText, integrationText, outcomeOf } from '#shared/monitoring/alerting/decision-text.ts'
import { Scenario } from '../alert-scenario.ts'

const notified = { outcome: 'notified', reason: 'REPEAT' }

/** A decision with another reason. */
const other = { reason: 'GROUPING', detail: {} }

test('the sentence of a failed notification states the failure before the reason', (t) => {
  const delivered = { ...notified, delivery: { state: 'delivered', error: '', attempts: 1 } }
  t.is(integrationText(delivered, 'Phone', other), 'Phone: Notified: it is still down.')
  const failed = { ...notified, delivery: { state: 'failed', error: 'Connection timed out', attempts: 5 } }
  t.is(
    integrationText(failed, 'Phone', other),
    'Phone: Not notified (failed: Connection timed out), although it is still down.',
  )
  t.deepEqual(outcomeOf(failed), notified, 'the decision itself does not change')
  const limited = { ...notified, delivery: { state: 'suppressed', error: 'Monthly limit', attempts: 1 } }
  t.is(
    integrationText(limited, 'Phone', other),
    'Phone: Not notified (suppressed: Monthly limit), although it is still down.',
  )
})

test('a notification replaced before its first attempt counts as superseded', (t) => {
  const superseded = (attempts: number) => ({
    ...notified,
    delivery: { state: 'suppressed', error: 'Superseded', attempts },
  })
  t.deepEqual(outcomeOf(superseded(0)), { outcome: 'skipped', reason: 'SUPERSEDED' })
  t.is(
    integrationText(superseded(0), 'Chat', other),
    'Chat: Not notified: a newer message replaced it, or it was no longer needed.',
  )
  t.deepEqual(outcomeOf(superseded(1)), notified)
  const skipped = { outcome: 'skipped', reason: 'INTEGRATION_IGNORES', delivery: null }
  t.is(integrationText(skipped, 'Chat', other), 'Chat: Not notified: the integration ignores this change.')
})

test('the sentence of an integration names the step of its decision', (t) => {
  const step = { outcome: 'notified', reason: 'STEP' }
  t.is(decisionText({ ...step, detail: { step: 1, repeat: 0 } }), 'Notified: step 2 of the policy was due.')
  const decision = { reason: 'STEP', detail: { step: 1, repeat: 0 } }
  t.is(integrationText(step, 'Phone', decision), 'Phone: Notified: step 2 of the policy was due.')
})

test('a flip after a move to another project has a decision', (t) => {
  const scenario = new Scenario().flip('down', 0)
  // The check of the scenario belongs to project 1.
  if (scenario.incident) scenario.incident = { ...scenario.incident, projectId: 2 }
  scenario.flip('up', 60)
  t.like(scenario.decisions.at(-1), { outcome: 'none', reason: 'MOVED', channels: [] })
  t.like(scenario.incidents.at(-1), { state: 'resolved', resolution: 'ended' })
})
