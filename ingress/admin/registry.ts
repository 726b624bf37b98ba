import { alertingCommands } from './alerting.ts'
import { backupCommands } from './backup.ts'
import { brokerCommands } from './broker.ts'
import { clientCommands } from './client.ts'
import type { Command, OfflineCommand } from './command.ts'
import { documentCommands } from './config-document.ts'
import { contactCommands } from './contact.ts'
import { deadLetterCommands } from './dead-letters.ts'
import { demoCommand } from './demo.ts'
import { doctorCommand } from './doctor.ts'
import { financingCommands } from './financing.ts'
import { gapCommands } from './gaps.ts'
import { openApiCommand, settingsCommand } from './generate.ts'
import { importFromCommands } from './import-from.ts'
import { integrationCommands } from './integration.ts'
import { issuerCommands } from './issuer.ts'
import { keyCommands } from './key.ts'
import { onCallCommands } from './on-call.ts'
import { organisationCommands } from './organisation.ts'
import { projectCommands } from './project.ts'
import { restoreCommands } from './restore.ts'
import { riskKeyCommands } from './risk-keys.ts'
import { shardCommands } from './shards.ts'
import { logCommands } from './transparency-log.ts'
import { userCommands } from './user.ts'
import { webhookCommands } from './webhooks.ts'

/** The order is that of the help. */
export const commands: readonly (Command | OfflineCommand)[] = [
  ...projectCommands,
  ...keyCommands,
  ...integrationCommands,
  ...alertingCommands,
  ...onCallCommands,
  ...clientCommands,
  ...userCommands,
  ...contactCommands,
  ...organisationCommands,
  ...riskKeyCommands,
  ...issuerCommands,
  ...financingCommands,
  ...documentCommands,
  ...importFromCommands,
  ...deadLetterCommands,
  ...webhookCommands,
  ...shardCommands,
  ...brokerCommands,
  ...backupCommands,
  ...restoreCommands,
  ...logCommands,
  ...gapCommands,
  demoCommand,
  doctorCommand,
  settingsCommand,
  openApiCommand,
]
