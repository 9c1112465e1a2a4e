import { createTemplateRenderer, TemplateError } from './engine.ts';
import type { TemplateJob, TemplateWorkerMessage, TemplateWorkerReply } from './worker-messages.ts';

/** The process that renders templates, one after the other. It ends with the service. */
const render = createTemplateRenderer();
const send = (message: TemplateWorkerMessage) => void process.send?.(message);

process.on('message', (job: TemplateJob) => {
  send('begun');
  let reply: TemplateWorkerReply;
  try {
    reply = { text: render(job.template, JSON.parse(job.data), job.options) };
  } catch (error) {
    reply = { reason: error instanceof TemplateError ? error.message : 'it cannot be rendered' };
  }
  send({ reply });
});
process.on('disconnect', () => process.exit());
send('ready');
