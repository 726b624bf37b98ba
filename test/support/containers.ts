import { GenericContainer, getContainerRuntimeClient, type StartedTestContainer, Wait } from 'testcontainers'
import { brokerRefusal, postgresRefusal, untilAnswers } from '../../stack/probe.ts'
import type { Starter } from '../../stack/resolve-services.ts'

/** PostgreSQL and RabbitMQ in containers that live as long as this run. */
export function testContainers(): Starter & { stop(): Promise<void> } {
  const started: StartedTestContainer[] = []
  return {
    unavailable: async () => {
      try {
        await getContainerRuntimeClient()
        return undefined
      } catch {
        return 'start a Docker engine'
      }
    },
    postgres: async () => {
      const container = await new GenericContainer(process.env.POSTGRES_IMAGE ?? 'postgres:17-alpine')
        .withEnvironment({ POSTGRES_PASSWORD: 'postgres' })
        .withCommand(['postgres', '-c', 'fsync=off', '-c', 'synchronous_commit=off', '-c', 'max_connections=400'])
        .withExposedPorts(5432)
        .withWaitStrategy(Wait.forListeningPorts())
        .start()
      started.push(container)
      const url = `postgres://postgres:postgres@${container.getHost()}:${container.getMappedPort(5432)}/postgres`
      await untilAnswers(() => postgresRefusal(url), { what: 'PostgreSQL in its container', timeoutMs: 60_000 })
      return { url }
    },
    broker: async () => {
      const container = await new GenericContainer(process.env.RABBITMQ_IMAGE ?? 'rabbitmq:4-management-alpine')
        .withExposedPorts(5672, 15672)
        .withWaitStrategy(Wait.forListeningPorts())
        .withStartupTimeout(180_000)
        .start()
      started.push(container)
      const url = `amqp://guest:guest@${container.getHost()}:${container.getMappedPort(5672)}`
      await untilAnswers(() => brokerRefusal(url), { what: 'RabbitMQ in its container', timeoutMs: 120_000 })
      const managementUrl = `http://${container.getHost()}:${container.getMappedPort(15672)}`
      return { url, control: { managementUrl } }
    },
    stop: async () => {
      await Promise.all(started.map((container) => container.stop()))
    },
  }
}
