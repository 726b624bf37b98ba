import type { Check } from '#shared/monitoring/checks/check.ts'

export interface Snippet {
  id: string
  label: string
  text: string
}

/**
 * Returns commands that ping an address and satisfy the check's rules: POST, or a body with a success keyword. All have
 * a timeout, retry, and never fail the monitored job.
 */
export function snippets(
  url: string,
  email: string,
  {
    methods,
    filterHttpBody,
    filterSubject,
    filterBody,
    successKw,
    kind,
    schedule,
  }: Pick<Check, 'kind' | 'schedule' | 'methods' | 'filterHttpBody' | 'filterSubject' | 'filterBody' | 'successKw'>,
): Snippet[] {
  const [word = ''] = successKw.split(',').map((one) => one.trim())
  const body = filterHttpBody ? word : ''
  const isPost = methods === 'POST' || body !== ''
  // Removes quotes, because each language escapes them differently and keywords are found within longer texts.
  const text = body.replace(/["'\\$`]/g, ' ')
  const curl = `curl -fsS -m 10${!isPost ? '' : text === '' ? ' -X POST' : ` --data-raw "${text}"`}`
  const mailWord = filterSubject ? `\nSubject: ${word}` : filterBody ? `\n\n${word}` : ''
  return [
    { id: 'curl', label: 'Shell', text: `${curl} --retry 5 --retry-connrefused -o /dev/null ${url}` },
    {
      id: 'cron',
      label: 'Cron',
      text: `# starts, runs, and reports the exit status\n${kind === 'cron' ? schedule : '15 3 * * *'}  curl -fsS -m 10${isPost ? ' -X POST' : ''} -o /dev/null ${url}/start; /path/to/job; curl -fsS -m 10${isPost ? ' -X POST' : ''} --retry 5 --retry-connrefused -o /dev/null ${url}/$?`,
    },
    {
      id: 'python',
      label: 'Python',
      text: `import urllib.request\n\ntry:\n    urllib.request.urlopen("${url}", ${isPost ? `data=b"${text}", ` : ''}timeout=10)\nexcept OSError as error:\n    print(f"ping failed: {error}")`,
    },
    {
      id: 'node',
      label: 'Node.js',
      text: `await fetch('${url}', { method: 'POST'${text === '' ? '' : `, body: '${text}'`}, signal: AbortSignal.timeout(10_000) })\n  .catch((error) => console.error('ping failed', error))`,
    },
    {
      id: 'powershell',
      label: 'PowerShell',
      text: `Invoke-RestMethod -Uri ${url}${isPost ? ` -Method Post -Body "${text}"` : ''} -TimeoutSec 10 -RetryIntervalSec 2 -MaximumRetryCount 5`,
    },
    {
      id: 'go',
      label: 'Go',
      text: `client := &http.Client{Timeout: 10 * time.Second}\nif _, err := client.${isPost ? `Post("${url}", "text/plain", strings.NewReader("${text}"))` : `Head("${url}")`}; err != nil {\n\tlog.Printf("ping failed: %v", err)\n}`,
    },
    { id: 'email', label: 'E-mail', text: `${email}${mailWord}` },
  ]
}
