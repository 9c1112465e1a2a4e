import { expect } from 'chai';
import { Counter, Histogram } from '../../../plugins/metrics/library.ts';

describe('instruments of metrics with a limit of series', () => {
  it('a counter counts values beyond its limit under "other", and known ones further on', () => {
    const counter = new Counter(['path', 'method'], 2);
    for (const path of ['/a', '/b', '/c', '/d', '/a']) counter.add([path, 'GET']);
    expect(counter.samples()).to.deep.equal([
      { labels: { path: '/a', method: 'GET' }, value: 2 },
      { labels: { path: '/b', method: 'GET' }, value: 1 },
      { labels: { path: 'other', method: 'other' }, value: 2 },
    ]);
  });

  it('a hundred thousand different values leave one series more than the limit', () => {
    const counter = new Counter(['path'], 10);
    for (let at = 0; at < 100_000; at++) counter.add([`/${at}`]);
    expect(counter.samples()).to.have.length(11);
    expect(counter.samples().at(-1)).to.deep.equal({ labels: { path: 'other' }, value: 99_990 });
  });

  it('a histogram puts a value into the first range whose bound it does not exceed', () => {
    const histogram = new Histogram(['owner'], [1, 5], 1);
    for (const value of [0.5, 1, 1.5, 5, 6]) histogram.observe(['a'], value);
    histogram.observe(['b'], 2);
    expect(histogram.samples()).to.deep.equal([
      { labels: { owner: 'a' }, value: { boundaries: [1, 5], counts: [2, 2, 1], sum: 14, count: 5 } },
      { labels: { owner: 'other' }, value: { boundaries: [1, 5], counts: [0, 1, 0], sum: 2, count: 1 } },
    ]);
  });
});
