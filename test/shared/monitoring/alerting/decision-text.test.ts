import test from 'ava'
import { decisionText, integrationText, outcomeOf } from '#shared/monitoring/alerting/decision-text.ts'
import { Scenario } from '../alert-scenario.ts'

const notified = { outcome: 'notified', reason: 'REPEAT' }

test('what could not be sent is not called told: first that, then why it should have been', (t) => {
  const delivered = { ...notified, delivery: { state: 'delivered', error: '', attempts: 1 } }
  t.is(integrationText(delivered, 'Phone'), 'Phone: Notified: it is still down.')
  const failed = { ...notified, delivery: { state: 'failed', error: 'Connection timed out', attempts: 5 } }
  t.is(
    integrationText(failed, 'Phone'),
    'Phone: Not notified (failed: Connection timed out), although it is still down.',
  )
  t.deepEqual(outcomeOf(failed), notified, 'it was decided all the same')
  const limited = { ...notified, delivery: { state: 'suppressed', error: 'Monthly limit', attempts: 1 } }
  t.is(integrationText(limited, 'Phone'), 'Phone: Not notified (suppressed: Monthly limit), although it is still down.')
})

test('what was taken back before anybody began to send it was superseded; what was tried before was not', (t) => {
  const overtaken = (attempts: number) => ({
    ...notified,
    delivery: { state: 'suppressed', error: 'Overtaken', attempts },
  })
  t.deepEqual(outcomeOf(overtaken(0)), { outcome: 'skipped', reason: 'SUPERSEDED' })
  t.is(
    integrationText(overtaken(0), 'Chat'),
    'Chat: Not notified: a newer message replaced it, or it was no longer needed.',
  )
  t.deepEqual(outcomeOf(overtaken(1)), notified)
  const skipped = { outcome: 'skipped', reason: 'INTEGRATION_IGNORES', delivery: null }
  t.is(integrationText(skipped, 'Chat'), 'Chat: Not notified: the integration ignores this change.')
})

test('the sentence of an integration names no other step than the decision', (t) => {
  const step = { outcome: 'notified', reason: 'STEP' }
  t.is(decisionText({ ...step, detail: { step: 1, repeat: 0 } }), 'Notified: step 2 of the policy was due.')
  t.is(integrationText(step, 'Phone'), 'Phone: Notified: a later step of the policy was due.')
})

test('a flip after a move to another project has a decision', (t) => {
  const story = new Scenario().flip('down', 0)
  // The check of the story belongs to project 1.
  if (story.incident) story.incident = { ...story.incident, projectId: 2 }
  story.flip('up', 60)
  t.like(story.decisions.at(-1), { outcome: 'none', reason: 'MOVED', channels: [] })
  t.like(story.incidents.at(-1), { state: 'resolved', resolution: 'ended' })
})
