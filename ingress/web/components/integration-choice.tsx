import type { StoredIntegration } from '#shared/monitoring/integrations/store.ts'
import { labelOfKind } from '../monitoring/integrations/labels.ts'
import { CheckBox } from './form.tsx'
import { IntegrationTrouble } from './integration-trouble.tsx'

/** Some of a project's integrations, by name and kind; those that may not tell anybody say so. */
export function IntegrationChoice(props: {
  name: string
  channels: readonly StoredIntegration[]
  /** uuids */
  chosen: ReadonlySet<string>
  /** hidden while a choice beside it says that others are meant */
  isDependent?: boolean
}) {
  if (props.channels.length === 0) return <p class="muted">There is no integration in this project yet.</p>
  return (
    <div class={props.isDependent ? 'choices chosen-channels' : 'choices'}>
      {props.channels.map((channel) => (
        <CheckBox
          key={channel.uuid}
          name={props.name}
          value={channel.uuid}
          isChecked={props.chosen.has(channel.uuid)}
          label={
            <>
              {channel.name || labelOfKind(channel.kind)} <small>{labelOfKind(channel.kind)}</small>{' '}
              <IntegrationTrouble channel={channel} />
            </>
          }
        />
      ))}
    </div>
  )
}
