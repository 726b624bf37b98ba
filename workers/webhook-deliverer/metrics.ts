import { Counter, Gauge, type Registry } from 'prom-client'

/** What an operator watches of deliveries. No label names a tenant or an address. */
export interface DeliveryMetrics {
  attempts: Counter<'outcome'>
  switchedOff: Counter<'reason'>
  due: Gauge
  oldest: Gauge
}

const made = new WeakMap<Registry, DeliveryMetrics>()

/** The metrics of a process, made once: the deliverer and the sweeper may share it. */
export function deliveryMetrics(registry: Registry): DeliveryMetrics {
  const known = made.get(registry)
  if (known) return known
  const metrics: DeliveryMetrics = {
    attempts: new Counter({
      name: 'signalbox_webhook_attempts_total',
      help: 'Attempts to deliver an event, by outcome: delivered, or the class of the failure.',
      labelNames: ['outcome'],
      registers: [registry],
    }),
    switchedOff: new Counter({
      name: 'signalbox_webhook_endpoints_disabled_total',
      help: 'Endpoints that the service switched off.',
      labelNames: ['reason'],
      registers: [registry],
    }),
    due: new Gauge({
      name: 'signalbox_webhook_deliveries_due',
      help: 'Deliveries whose attempt is due.',
      registers: [registry],
    }),
    oldest: new Gauge({
      name: 'signalbox_webhook_oldest_due_seconds',
      help: 'Time for which the oldest delivery that is due has been waiting.',
      registers: [registry],
    }),
  }
  made.set(registry, metrics)
  return metrics
}
