import { expect } from 'chai';
import { createJobList } from '../../../plugins/queue/job-list.ts';
import { until } from '../../support/until.ts';
import { type QueueTestService, startQueueService } from './queue-service.ts';

describe('the clean-up of ended jobs', () => {
  let place: QueueTestService;
  before(async () => {
    place = await startQueueService({
      retries: 0,
      run: async ({ data, progress }) => {
        progress(0.5);
        if (data.fails) throw new Error('on purpose');
      },
    });
  });
  after(() => place?.stop());

  it('deletes completed jobs when their time is over, with their progress, and keeps dead letters', async () => {
    const { db, queue, service } = place;
    await queue.add({});
    const dead = await queue.add({ fails: true });
    const states = async () =>
      (
        await service.database.query<{ state: string }>(
          'select state::text from platform_queue.job order by state::text',
        )
      ).map(({ state }) => state);
    await until(async () => (await states()).join() === 'completed,failed');
    const list = createJobList(db);
    await list.deleteEnded('numbers', 3600);
    expect(await states()).to.deep.equal(['completed', 'failed']);
    await list.deleteEnded('numbers', 0);
    expect(await states()).to.deep.equal(['failed']);
    const kept = await service.database.query<{ job: string }>('select job from platform_queue_progress');
    expect(kept.every(({ job }) => job === dead)).to.equal(true);
  });
});
