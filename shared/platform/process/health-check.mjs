// Health check of a container. It is JavaScript, because it runs every few seconds and must start fast.
const [url] = process.argv.slice(2)
try {
  const response = await fetch(url, { signal: AbortSignal.timeout(4_000) })
  if (!response.ok) console.log((await response.text()).slice(0, 500))
  process.exitCode = response.ok ? 0 : 1
} catch (error) {
  console.log(`${url}: ${error.cause?.code ?? error.message}`)
  process.exitCode = 1
}
