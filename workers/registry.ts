import { acceptanceRecorder } from './acceptance-recorder/acceptance-recorder.ts'
import { alerter } from './alerter/alerter.ts'
import { anchor } from './anchor/anchor.ts'
import type { Worker } from './define-worker.ts'
import { dilutionMeasurer } from './dilution-measurer/dilution-measurer.ts'
import { financingRegistrar } from './financing-registrar/financing-registrar.ts'
import { kybVerifier } from './kyb-verifier/kyb-verifier.ts'
import { mailer } from './mailer/mailer.ts'
import { notifier } from './notifier/notifier.ts'
import { packComposer } from './pack-composer/pack-composer.ts'
import { pingEvaluator } from './ping-evaluator/ping-evaluator.ts'
import { sweeper } from './sweeper/sweeper.ts'
import { webhookDeliverer } from './webhook-deliverer/webhook-deliverer.ts'

/** Every worker of the product: what `npm run workers` starts, and what messages may name as consumers. */
export const workers: readonly Worker[] = [
  pingEvaluator,
  sweeper,
  alerter,
  notifier,
  packComposer,
  financingRegistrar,
  acceptanceRecorder,
  dilutionMeasurer,
  kybVerifier,
  anchor,
  webhookDeliverer,
  mailer,
]
