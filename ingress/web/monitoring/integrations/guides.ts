/** The words of a service, so that its user finds the values there. */
interface Guide {
  /** page of the service that explains how to get the values */
  help?: string
  options: Readonly<Record<string, { label: string; example?: string }>>
}

const PHONE: Guide = { options: { value: { label: 'Phone number', example: '+15550100' } } }

const GUIDES: Readonly<Record<string, Guide>> = {
  email: { options: { value: { label: 'E-mail address', example: 'oncall@example.org' } } },
  webhook: {
    options: {
      url_down: { label: 'URL for failures', example: 'https://example.org/hook?check=$SLUG' },
      url_up: { label: 'URL for recoveries', example: 'https://example.org/hook?check=$SLUG' },
    },
  },
  slack: {
    help: 'https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks/',
    options: { url: { label: 'Incoming webhook URL', example: 'https://hooks.slack.com/services/T000/B000/XXXX' } },
  },
  msteamsw: {
    help: 'https://support.microsoft.com/en-us/office/create-incoming-webhooks-with-workflows-for-microsoft-teams-8ae491c7-0394-4861-ba59-055e33f75498',
    options: {
      url: { label: 'Workflow webhook URL', example: 'https://prod-00.westeurope.logic.azure.com/workflows/...' },
    },
  },
  googlechat: {
    help: 'https://developers.google.com/workspace/chat/quickstart/webhooks',
    options: {
      url: {
        label: 'Webhook URL of the space',
        example: 'https://chat.googleapis.com/v1/spaces/AAAA/messages?key=...',
      },
    },
  },
  discord: {
    help: 'https://support.discord.com/hc/en-us/articles/228383668-Intro-to-Webhooks',
    options: { url: { label: 'Webhook URL', example: 'https://discord.com/api/webhooks/1234/abcd' } },
  },
  mattermost: {
    help: 'https://developers.mattermost.com/integrate/webhooks/incoming/',
    options: { url: { label: 'Incoming webhook URL', example: 'https://mattermost.example.org/hooks/abcd' } },
  },
  rocketchat: {
    help: 'https://docs.rocket.chat/docs/integrations',
    options: { url: { label: 'Webhook URL', example: 'https://chat.example.org/hooks/1234/abcd' } },
  },
  telegram: {
    help: 'https://core.telegram.org/bots/features#creating-a-new-bot',
    options: {
      token: { label: 'Bot token', example: '123456:ABC-DEF1234' },
      id: { label: 'Chat ID', example: '-1001234567890' },
      thread_id: { label: 'Topic ID', example: '7' },
      base_url: { label: 'Bot API server' },
    },
  },
  matrix: {
    help: 'https://spec.matrix.org/latest/client-server-api/#login',
    options: {
      homeserver: { label: 'Homeserver URL', example: 'https://matrix.example.org' },
      access_token: { label: 'Access token', example: 'syt_...' },
      room_id: { label: 'Internal room ID', example: '!abcd:example.org' },
    },
  },
  zulip: {
    help: 'https://zulip.com/help/add-a-bot-or-integration',
    options: {
      site: { label: 'Organization URL', example: 'https://example.zulipchat.com' },
      bot_email: { label: 'Bot email', example: 'signalbox-bot@example.zulipchat.com' },
      api_key: { label: 'API key' },
      to: { label: 'Channel or user', example: 'ops' },
      topic: { label: 'Topic', example: 'signalbox' },
    },
  },
  github: {
    help: 'https://docs.github.com/en/authentication/keeping-your-account-and-data-secure/managing-your-personal-access-tokens',
    options: {
      repo: { label: 'Repository', example: 'acme/infrastructure' },
      token: { label: 'Personal access token', example: 'github_pat_...' },
      labels: { label: 'Labels', example: 'incident, signalbox' },
    },
  },
  trello: {
    help: 'https://developer.atlassian.com/cloud/trello/guides/rest-api/api-introduction/',
    options: { key: { label: 'API key' }, token: { label: 'Token' }, list_id: { label: 'List ID' } },
  },
  pd: {
    help: 'https://support.pagerduty.com/main/docs/services-and-integrations',
    options: { service_key: { label: 'Integration key (Events API v2)' } },
  },
  opsgenie: {
    help: 'https://support.atlassian.com/opsgenie/docs/create-a-default-api-integration/',
    options: { key: { label: 'API key' }, region: { label: 'Service region' } },
  },
  victorops: {
    help: 'https://help.victorops.com/knowledge-base/rest-endpoint-integration-guide/',
    options: {
      url: {
        label: 'URL to notify, with a routing key',
        example: 'https://alert.victorops.com/integrations/generic/20131114/alert/KEY/ROUTING',
      },
    },
  },
  pagertree: {
    help: 'https://pagertree.com/docs/integration-guides/webhook',
    options: { url: { label: 'Endpoint URL', example: 'https://api.pagertree.com/integration/int_...' } },
  },
  spike: {
    help: 'https://docs.spike.sh/',
    options: { url: { label: 'Webhook URL', example: 'https://hooks.spike.sh/abcd/push-events' } },
  },
  sms: PHONE,
  call: PHONE,
  whatsapp: {
    help: 'https://www.twilio.com/docs/content',
    options: { ...PHONE.options, content_sid: { label: 'Content template SID', example: 'HX0123...' } },
  },
  signal: {
    help: 'https://github.com/bbernhard/signal-cli-rest-api',
    options: {
      value: { label: 'Phone number or group ID', example: '+15550100' },
      number: { label: 'Registered number of the sender', example: '+15550101' },
      url: { label: 'URL of the signal-cli REST API', example: 'https://signal.example.org' },
    },
  },
  po: {
    help: 'https://pushover.net/api',
    options: { token: { label: 'API token of the application' }, user_key: { label: 'User or group key' } },
  },
  pushbullet: {
    help: 'https://docs.pushbullet.com/',
    options: { access_token: { label: 'Access token', example: 'o.abcd...' } },
  },
  ntfy: {
    help: 'https://docs.ntfy.sh/publish/',
    options: {
      topic: { label: 'Topic', example: 'acme-alerts' },
      url: { label: 'Server URL' },
      token: { label: 'Access token', example: 'tk_...' },
    },
  },
  gotify: {
    help: 'https://gotify.net/docs/pushmsg',
    options: {
      url: { label: 'Server URL', example: 'https://gotify.example.org' },
      token: { label: 'Application token', example: 'A...' },
    },
  },
  apprise: {
    help: 'https://github.com/caronc/apprise/wiki',
    options: { value: { label: 'Apprise URL', example: 'tgram://bot-token/chat-id' } },
  },
}

/** Returns no options for a kind without a guide. */
export function guideOf(kind: string): Guide {
  return (Object.hasOwn(GUIDES, kind) && GUIDES[kind]) || { options: {} }
}
