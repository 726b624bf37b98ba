import test from 'ava'
import { eventually } from '../../support/eventually.ts'
import { openHttpSink } from '../../support/http-sink.ts'
import { addMethod, addPerson } from '../../support/personal.ts'
import { openProduct } from '../../support/product.ts'
import { addCheck, addProject } from '../../support/projects.ts'
import { send } from '../../support/send.ts'

test('a step notifies two persons; the link of one acknowledges, and both get notice and recovery', async (t) => {
  await using gotify = await openHttpSink()
  await using app = await openProduct({
    listener: 'http',
    workers: ['ping-evaluator', 'alerter', 'notifier', 'sweeper'],
  })
  const { project, rwKey } = await addProject(app.deps)
  const anna = await addPerson(app.deps, project.organisationId)
  const ben = await addPerson(app.deps, project.organisationId, 'Ben')
  const methods = [anna, ben].map(({ id }) => addMethod(app.deps, id, 'gotify', { url: gotify.url, token: `key${id}` }))
  await Promise.all(methods)
  const steps = [{ people: [{ person: anna.email }, { person: ben.email }] }]
  const headers = { 'X-Api-Key': rwKey }
  const body = JSON.stringify({ name: 'p', match: '*', steps })
  t.is((await send(app.url, '/api/v3/policies/', { method: 'POST', headers, body })).status, 201)
  const check = await addCheck(app.deps, project.id, { name: 'db' })
  const ping = (end: string) =>
    eventually('a ping to be accepted', async () => (await fetch(`${app.url}/ping/${check.uuid}${end}`)).status === 200)
  const messagesTo = ({ id }: { id: number }) =>
    gotify.requests
      .filter(({ query }) => query.get('token') === `key${id}`)
      .map(({ body: sent }) => String(JSON.parse(sent.toString()).message).replaceAll('\\', ''))
  await ping('/fail')
  await eventually('both to be notified', async () => messagesTo(anna).length === 1 && messagesTo(ben).length === 1)
  const token = /\/a\/([\w-]{22})/.exec(messagesTo(anna)[0] ?? '')?.[1]
  t.is((await send(app.url, `/a/${token}`, { method: 'POST', body: 'do=ack' })).status, 303)
  // The notice waits for the end of the window after the first message.
  await app.db('contact_methods').update({ notified_at: new Date(Date.now() - 20_000) })
  await eventually('Ben to get the notice', async () => messagesTo(ben).length === 2)
  t.regex(messagesTo(ben)[1] ?? '', /ACK \| db: acknowledged by Anna \(Gotify\)/)
  await app.db('contact_methods').update({ notified_at: new Date(Date.now() - 20_000) })
  await ping('')
  await eventually('the recoveries', async () => messagesTo(anna).length === 2 && messagesTo(ben).length === 3)
  t.regex(messagesTo(anna)[1] ?? '', /"db" is UP/)
})
