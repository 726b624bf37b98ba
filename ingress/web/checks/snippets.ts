export interface Snippet {
  id: string
  label: string
  text: string
}

/** Lines to paste that ping one address. All time out, retry, and never break the job they report on. */
export function snippets(url: string, email: string): Snippet[] {
  return [
    { id: 'curl', label: 'Shell', text: `curl -fsS -m 10 --retry 5 -o /dev/null ${url}` },
    {
      id: 'cron',
      label: 'Cron',
      text: `# starts, runs, and reports the exit status\n15 3 * * *  curl -fsS -m 10 -o /dev/null ${url}/start; /path/to/job; curl -fsS -m 10 --retry 5 -o /dev/null ${url}/$?`,
    },
    {
      id: 'python',
      label: 'Python',
      text: `import urllib.request\n\ntry:\n    urllib.request.urlopen("${url}", timeout=10)\nexcept OSError as error:\n    print(f"ping failed: {error}")`,
    },
    {
      id: 'node',
      label: 'Node.js',
      text: `await fetch('${url}', { method: 'POST', signal: AbortSignal.timeout(10_000) })\n  .catch((error) => console.error('ping failed', error))`,
    },
    {
      id: 'powershell',
      label: 'PowerShell',
      text: `Invoke-RestMethod -Uri ${url} -TimeoutSec 10 -RetryIntervalSec 2 -MaximumRetryCount 5`,
    },
    {
      id: 'go',
      label: 'Go',
      text: `client := &http.Client{Timeout: 10 * time.Second}\nif _, err := client.Head("${url}"); err != nil {\n\tlog.Printf("ping failed: %v", err)\n}`,
    },
    { id: 'email', label: 'E-mail', text: email },
  ]
}
