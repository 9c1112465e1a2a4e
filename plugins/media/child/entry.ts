import type { Job, Message, Reply } from '../messages.ts';
import { inspect } from './inspect.ts';
import { Refused } from './refused.ts';
import { transform } from './transform.ts';

/** The process that looks into files: one job after the other, and nothing else. It ends with the one that started it. */
const tell = (message: Message) => void process.send?.(message);

/** Seconds of processor time so far. */
function spent(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

async function work(job: Job): Promise<Reply> {
  try {
    if (job.kind === 'transform') return { done: await transform(job.source, job.target, job.plan) };
    await inspect(job.path, job.declared, (found) => tell({ note: found }));
    return { done: null };
  } catch (error) {
    const { reason, message } = error instanceof Refused ? error : new Refused('damaged', 'The image cannot be read');
    return { failed: reason, message };
  }
}

process.on('message', async (job: Job) => {
  tell('begun');
  tell({ reply: await work(job), spent: spent() });
});
// At once: an ordinary exit waits for what the decoders are doing.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
tell('ready');
