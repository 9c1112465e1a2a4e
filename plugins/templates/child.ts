import { createRender, TemplateError } from './engine.ts';
import type { Answer, Job } from './renderer.ts';

/** The process that renders: one template after the other, and nothing else. It ends with the one that started it. */
const render = createRender();

process.on('message', (job: Job) => {
  let answer: Answer;
  try {
    answer = { text: render(job.template, JSON.parse(job.data), job.delimiters) };
  } catch (error) {
    answer = { reason: error instanceof TemplateError ? error.message : 'it cannot be rendered' };
  }
  process.send?.(answer);
});
process.on('disconnect', () => process.exit());
process.send?.('ready');
