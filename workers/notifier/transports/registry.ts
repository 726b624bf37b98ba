import { appriseTransport } from './apprise.ts'
import { callTransport } from './call.ts'
import { discordTransport } from './discord.ts'
import { emailTransport } from './email.ts'
import { githubTransport } from './github.ts'
import { googlechatTransport } from './googlechat.ts'
import { gotifyTransport } from './gotify.ts'
import { groupTransport } from './group.ts'
import { matrixTransport } from './matrix.ts'
import { mattermostTransport } from './mattermost.ts'
import { msteamswTransport } from './msteamsw.ts'
import { ntfyTransport } from './ntfy.ts'
import { opsgenieTransport } from './opsgenie.ts'
import { pagertreeTransport } from './pagertree.ts'
import { pdTransport } from './pd.ts'
import { poTransport } from './po.ts'
import { pushbulletTransport } from './pushbullet.ts'
import { rocketchatTransport } from './rocketchat.ts'
import { shellTransport } from './shell.ts'
import { signalTransport } from './signal.ts'
import { slackTransport } from './slack.ts'
import { smsTransport } from './sms.ts'
import { spikeTransport } from './spike.ts'
import { telegramTransport } from './telegram.ts'
import type { Transport } from './transport.ts'
import { trelloTransport } from './trello.ts'
import { victoropsTransport } from './victorops.ts'
import { webhookTransport } from './webhook.ts'
import { whatsappTransport } from './whatsapp.ts'
import { zulipTransport } from './zulip.ts'

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
