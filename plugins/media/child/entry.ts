import type { MediaJob, MediaWorkerMessage, MediaWorkerReply } from '../worker-messages.ts';
import { inspectFile } from './inspect.ts';
import { transformImage } from './transform.ts';
import { TransformRefusal } from './transform-refusal.ts';

/** Entry point of a media process: it does one job after the other and ends with its parent. */
const send = (message: MediaWorkerMessage) => void process.send?.(message);

/** Seconds of processor time so far. */
function processorSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

async function runJob(job: MediaJob): Promise<MediaWorkerReply> {
  try {
    if (job.kind === 'transform') return { done: await transformImage(job.source, job.target, job.plan) };
    await inspectFile(job.path, job.declared, (found) => send({ note: found }));
    return { done: null };
  } catch (error) {
    const { reason, message } =
      error instanceof TransformRefusal ? error : new TransformRefusal('damaged', 'The image cannot be read');
    return { failed: reason, message };
  }
}

process.on('message', async (job: MediaJob) => {
  send('begun');
  send({ reply: await runJob(job), spent: processorSeconds() });
});
// SIGKILL: an ordinary exit waits for the decoders.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
send('ready');
