import { acceptanceRecorder } from './acceptance-recorder/acceptance-recorder.ts'
import { alerter } from './alerter/alerter.ts'
import { anchor } from './anchor/anchor.ts'
import type { Worker } from './define-worker.ts'
import { dilutionMeasurer } from './dilution-measurer/dilution-measurer.ts'
import { financingRegistrar } from './financing-registrar/financing-registrar.ts'
import { identityVerifier } from './identity-verifier/identity-verifier.ts'
import { kybVerifier } from './kyb-verifier/kyb-verifier.ts'
import { mailer } from './mailer/mailer.ts'
import { notifier } from './notifier/notifier.ts'
import { packComposer } from './pack-composer/pack-composer.ts'
import { pingEvaluator } from './ping-evaluator/ping-evaluator.ts'
import { poolBuilder } from './pool-builder/pool-builder.ts'
import { presentationVerifier } from './presentation-verifier/presentation-verifier.ts'
import { provenanceComposer } from './provenance-composer/provenance-composer.ts'
import { sweeper } from './sweeper/sweeper.ts'
import { tapeImporter } from './tape-importer/tape-importer.ts'
import { webhookDeliverer } from './webhook-deliverer/webhook-deliverer.ts'

/** `npm run workers` starts these, and messages may name them as consumers. */
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
  tapeImporter,
  provenanceComposer,
  identityVerifier,
  presentationVerifier,
  poolBuilder,
  anchor,
  webhookDeliverer,
  mailer,
]
