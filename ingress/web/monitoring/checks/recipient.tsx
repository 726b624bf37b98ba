import { labelOfKind } from '../integrations/labels.ts'

interface Props {
  /** null for a person */
  uuid: string | null
  name: string
  kind: string
}

/** Shows an integration with its link, or a person with the kind of the contact method. */
export function Recipient({ uuid, name, kind }: Props) {
  if (uuid === null) return <>{`${name} (${labelOfKind(kind)})`}</>
  return <a href={`/integrations/${uuid}`}>{name || labelOfKind(kind)}</a>
}
