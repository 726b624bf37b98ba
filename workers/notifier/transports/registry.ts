import { githubTransport, trelloTransport } from './boards.ts'
import {
  discordTransport,
  googlechatTransport,
  matrixTransport,
  mattermostTransport,
  msteamswTransport,
  rocketchatTransport,
  slackTransport,
  telegramTransport,
  zulipTransport,
} from './chat.ts'
import {
  opsgenieTransport,
  pagertreeTransport,
  pdTransport,
  spikeTransport,
  victoropsTransport,
} from './incident-tools.ts'
import { emailTransport, groupTransport, shellTransport } from './other.ts'
import { callTransport, signalTransport, smsTransport, whatsappTransport } from './phone.ts'
import { appriseTransport, gotifyTransport, ntfyTransport, poTransport, pushbulletTransport } from './push.ts'
import type { Transport } from './transport.ts'
import { webhookTransport } from './webhook.ts'

const all: readonly Transport[] = [
  emailTransport,
  webhookTransport,
  smsTransport,
  callTransport,
  whatsappTransport,
  slackTransport,
  mattermostTransport,
  rocketchatTransport,
  discordTransport,
  msteamswTransport,
  googlechatTransport,
  telegramTransport,
  matrixTransport,
  zulipTransport,
  signalTransport,
  ntfyTransport,
  gotifyTransport,
  poTransport,
  pushbulletTransport,
  pdTransport,
  opsgenieTransport,
  victoropsTransport,
  pagertreeTransport,
  spikeTransport,
  githubTransport,
  trelloTransport,
  appriseTransport,
  shellTransport,
  groupTransport,
]

/** By kind: one for each of `shared/monitoring/integrations/kinds.ts`. */
export const transports: ReadonlyMap<string, Transport> = new Map(all.map((transport) => [transport.kind, transport]))
