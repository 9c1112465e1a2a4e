/** A worker program of the tests. Each job says by `kind` what the process does; it replies with messages of `WorkerMessage`. */
interface Job {
  readonly kind: 'answer' | 'note' | 'hang' | 'die' | 'work';
  readonly value?: unknown;
}

const [, , start] = process.argv;
const send = (message: unknown) => void process.send?.(message);

process.on('message', ({ kind, value }: Job) => {
  send('begun');
  if (kind === 'die') process.kill(process.pid, 'SIGKILL');
  if (kind === 'note') for (const note of value as unknown[]) send({ note });
  if (kind === 'hang') return;
  const about = { pid: process.pid, environment: Object.keys(process.env), args: process.argv.slice(2), value };
  send({ reply: about, spent: kind === 'work' ? 10 : 0 });
});
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
if (start === 'never') setInterval(() => {}, 60_000);
else if (start === 'dies') process.exit(1);
else send('ready');
