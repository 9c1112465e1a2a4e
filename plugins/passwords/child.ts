import { verify } from 'argon2';
import { argon2Hash } from './argon2-hash.ts';
import type { HashJob, PasswordWorkerMessage, PasswordWorkerReply } from './worker-messages.ts';

/** The process that hashes: one text after the other, and nothing else. It ends with the service that started it. */
const send = (message: PasswordWorkerMessage) => void process.send?.(message);

async function done(job: HashJob): Promise<PasswordWorkerReply> {
  if ('cost' in job) return argon2Hash(job.text, job.cost);
  // The library throws on text that is no hash of its own, such as a value written by hand.
  return verify(job.stored, job.text).catch(() => false);
}

process.on('message', async (job: HashJob) => {
  send('begun');
  const reply = await done(job);
  const { user, system } = process.cpuUsage();
  send({ reply, spent: (user + system) / 1e6 });
});
process.on('disconnect', () => process.exit());
send('ready');
