import { personLabel } from '#shared/monitoring/contacts/person-label.ts'
import { type SimulatedMessage, simulatedLabel } from '#shared/monitoring/simulation/simulated.ts'
import { type Micros, toIsoSeconds } from '#shared/time.ts'

const LEFT = 150
const WIDTH = 640
const LANE = 22
/** Width of a message, in pixels of the chart. */
const MARK = 4
const MAX_LABEL = 22

interface Props {
  messages: readonly SimulatedMessage[]
  from: Micros
  until: Micros
  /** integrations by uuid */
  nameOf: (uuid: string) => string
}

/** Draws one lane per integration and person. The list below has the same messages as text. */
export function SimulatorLanes({ messages, from, until, nameOf }: Props) {
  const lanes = [...Map.groupBy(messages, laneOf)]
  const xOf = (at: Micros) => Math.round(LEFT + ((at - from) / (until - from)) * (WIDTH - LEFT - MARK))
  const height = lanes.length * LANE
  const labelOf = ({ integration, recipient }: SimulatedMessage) => recipient?.person ?? nameOf(integration ?? '')
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
    <section class="scroll" tabIndex={0} aria-label="Notifications as lanes">
      <svg
        class="chart recipient-lanes"
        viewBox={`0 0 ${WIDTH} ${height}`}
        role="img"
        aria-label={`Notifications by recipient: ${lanes.length}. The list follows.`}
      >
        {lanes.map(([key, own], index) => {
          const label = own[0] ? labelOf(own[0]) : ''
          return (
            <g key={key}>
              <path class="axis" d={`M${LEFT} ${index * LANE + LANE / 2}H${WIDTH}`} />
              <text x="0" y={index * LANE + 15}>
                {label.length > MAX_LABEL ? `${label.slice(0, MAX_LABEL - 1)}…` : label}
                <title>{label}</title>
              </text>
              {own.map((message, position) => (
                <rect
                  key={position}
                  class={message.status === 'down' ? 'bar failed' : 'bar'}
                  x={xOf(message.at)}
                  y={index * LANE + 4}
                  width={MARK}
                  height={LANE - 8}
                >
                  <title>{`${toIsoSeconds(message.at).slice(5, 16).replace('T', ' ')} UTC: ${recipientText(message, nameOf)}: ${simulatedLabel(message)}`}</title>
                </rect>
              ))}
            </g>
          )
        })}
      </svg>
    </section>
  )
}

function laneOf({ integration, recipient }: SimulatedMessage): string {
  return recipient ? `person ${recipient.person}` : `integration ${integration}`
}

/** Returns `Ops chat` or `anna@example.org (SMS)`. */
export function recipientText({ integration, recipient }: SimulatedMessage, nameOf: (uuid: string) => string): string {
  return recipient ? personLabel(recipient.person, recipient.kind, null) : nameOf(integration ?? '')
}
