/** Returns a delivery as a shell command. Untrusted values are in single quotes, with their own quotes escaped. */
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
