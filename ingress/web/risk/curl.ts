/**
 * A request like a delivery's as a line for a shell. Everything that came from elsewhere is inside single quotes, with
 * its own quotes ended and escaped.
 */
export function curlOf(url: string, delivery: { id: string; eventId: string; body: string }): string {
  return [
    `curl -X POST ${quoted(url)}`,
    `-H 'content-type: application/json'`,
    `-H ${quoted(`webhook-id: ${delivery.eventId}`)}`,
    `--data-raw ${quoted(delivery.body)}`,
  ].join(' \\\n  ')
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
