// Test processes load this before AVA (`nodeArguments` in ava.config.js), which replaces `process.exit` by its own.
// A process that has finished exits immediately. Node by default would first wait for every request whose end it
// has not seen, and one that it had lost count of (24.21, after a soak that cut connections) kept it in a loop in
// `Environment::CleanupHandles` for ever, while AVA waited although the exit was reported.

const exit = process.exit
process.once('beforeExit', () => exit())

// A process whose run was killed would live on, with all that it has started, because no parent is left to end it.
// AVA's own messages decide how long the channel to the run keeps a process open, not our listener for its end.
process.once('disconnect', async () => {
  const { killBelow } = await import('../../stack/service-state.ts')
  await killBelow(process.pid).finally(() => exit(1))
})
process.channel?.unref()
