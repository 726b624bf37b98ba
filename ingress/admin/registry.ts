import { channelCommands } from './channel.ts'
import type { Command, OfflineCommand } from './command.ts'
import { documentCommands } from './config-document.ts'
import { deadLetterCommands } from './dead-letters.ts'
import { doctorCommand } from './doctor.ts'
import { keyCommands } from './key.ts'
import { openApiCommand } from './openapi.ts'
import { projectCommands } from './project.ts'
import { settingsCommand } from './settings.ts'

/** Every command, in the order of the help. */
export const commands: readonly (Command | OfflineCommand)[] = [
  ...projectCommands,
  ...keyCommands,
  ...channelCommands,
  ...documentCommands,
  ...deadLetterCommands,
  doctorCommand,
  settingsCommand,
  openApiCommand,
]
