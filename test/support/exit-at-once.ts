// Test processes load this before AVA (`nodeArguments` in ava.config.js), which replaces `process.exit` by its own.
// A process that has finished exits immediately. Node by default would first wait for every request whose end it
// has not seen. A lost request (24.21, after a soak that cut connections) kept it in a loop in
// `Environment::CleanupHandles` for ever, and AVA waited although the exit was reported.

const exit = process.exit
process.once('beforeExit', () => exit())

// Without its killed run, a process would continue with all its child processes, because no parent ends it.
// Only messages of AVA may keep a process open, not our listener for the end of the channel.
process.once('disconnect', async () => {
  const { killBelow } = await import('../../stack/service-state.ts')
  await killBelow(process.pid).finally(() => exit(1))
})
process.channel?.unref()
