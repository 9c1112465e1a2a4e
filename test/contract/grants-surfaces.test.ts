import { describeGrants } from './grants.ts';

describeGrants('surfaces');
