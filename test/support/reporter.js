import mocha from 'mocha';

/** The ordinary reporter, which also tells `scripts/test.ts` how many passed and failed. */
export default class Counting extends mocha.reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    runner.once('end', () => process.send?.({ passed: this.stats.passes, failed: this.stats.failures }));
  }
}
