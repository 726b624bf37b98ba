import type { BadgeUrls } from '#shared/monitoring/badges/signature.ts'
import { Copyable } from '../shell/basics.tsx'

interface Props {
  urls: BadgeUrls
  /** of a project, tag or check */
  name: string
}

/** Uses the path, because the public host may differ from the one of this browser. */
export function BadgeImage({ urls, name }: Props) {
  return <img src={new URL(urls.svg3).pathname} alt={`Badge of ${name}`} height="20" />
}

export function BadgeForms({ urls, name }: Props) {
  return (
    <>
      <Line label="Markdown" text={`![${name.replaceAll(/[[\]\\]/g, '\\$&')}](${urls.svg3})`} name={name} />
      <details class="more">
        <summary>Other forms</summary>
        <div class="badge-forms">
          <Line label="Picture, up or down" text={urls.svg} name={name} />
          <Line label="Picture with late" text={urls.svg3} name={name} />
          <Line label="JSON" text={urls.json3} name={name} />
          <Line label="Shields.io" text={urls.shields3} name={name} />
        </div>
      </details>
    </>
  )
}

function Line({ label, text, name }: { label: string; text: string; name: string }) {
  return (
    <div class="badge-line">
      <small>{label}</small>
      <Copyable text={text} label={`${label} of ${name}`} />
    </div>
  )
}
