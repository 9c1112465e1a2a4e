import { createRender, TemplateError } from './engine.ts';
import type { Job, TemplateWorkerMessage, TemplateWorkerReply } from './messages.ts';

/** The rendering process. It renders one template after the other and ends with the service. */
const render = createRender();
const send = (message: TemplateWorkerMessage) => void process.send?.(message);

process.on('message', (job: Job) => {
  send('begun');
  let reply: TemplateWorkerReply;
  try {
    reply = { text: render(job.template, JSON.parse(job.data), job.delimiters) };
  } catch (error) {
    reply = { reason: error instanceof TemplateError ? error.message : 'it cannot be rendered' };
  }
  send({ reply });
});
process.on('disconnect', () => process.exit());
send('ready');
