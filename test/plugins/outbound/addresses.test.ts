import { networkInterfaces } from 'node:os';
import { expect } from 'chai';
import type { BootFailure } from '#kernel';
import { createOutboundAddressPolicy } from '../../../plugins/outbound/address-policy.ts';
import { captureError, withBootedTestPlugins } from '../../support/test-plugins.ts';

const listAllowed = (addresses: readonly string[], denied: string[] = [], allowed: string[] = []) => {
  const policy = createOutboundAddressPolicy(denied, allowed);
  return addresses.filter((address) => policy(address));
};

describe('createOutboundAddressPolicy', () => {
  const PUBLIC = [
    '93.184.216.34',
    '8.8.8.8',
    '1.1.1.1',
    '2606:4700:4700::1111',
    '2a00:1450:4001::64',
    '64:ff9b::808:808',
  ];
  const INSIDE = [
    ...['127.0.0.1', '127.9.9.9', '0.0.0.0', '0.1.2.3', '10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1'],
    ...['169.254.169.254', '169.254.1.1', '100.64.0.1', '100.100.100.200', '224.0.0.1', '255.255.255.255', '240.0.0.1'],
    ...['192.0.0.1', '192.0.2.1', '198.18.0.1', '198.51.100.1', '203.0.113.1', '192.88.99.1', '168.63.129.16'],
    ...[
      '::',
      '::1',
      'fe80::1',
      'fe80::1%eth0',
      'fc00::1',
      'fd00:ec2::254',
      'fec0::1',
      'ff02::1',
      '100::1',
      '2001:db8::1',
    ],
    ...['5f00::1', '3fff::1', '4000::1', '8000::1', '2001:2::1', '2001:10::1', '2001:20::1'],
    // IPv4 addresses inside of IPv6: mapped, compatible, translated, 6to4, Teredo.
    ...['::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:10.0.0.1', '::127.0.0.1', '::10.0.0.1', '::8.8.8.8'],
    ...['::ffff:0:127.0.0.1', '64:ff9b::127.0.0.1', '64:ff9b::a00:1', '64:ff9b::a9fe:a9fe', '64:ff9b:1::7f00:1'],
    ...['2002:7f00:1::', '2002:a00:1::1', '2001:0:7f00:1::', '2001:0:4136:e378:8000:63bf:f5ff:fffe'],
  ];

  it('public addresses are allowed', () => {
    expect(listAllowed(PUBLIC)).to.deep.equal(PUBLIC);
    expect(listAllowed(['::ffff:8.8.8.8'])).to.have.length(1);
  });

  it('addresses that are not public are denied in every notation', () => {
    expect(listAllowed(INSIDE)).to.deep.equal([]);
  });

  it('addresses of the own interfaces are denied', () => {
    const own = Object.values(networkInterfaces()).flatMap((all) => all?.map(({ address }) => address) ?? []);
    expect(own).not.to.deep.equal([]);
    expect(listAllowed(own)).to.deep.equal([]);
  });

  it('texts that are no addresses are denied', () => {
    expect(listAllowed(['', 'localhost', '1.2.3', '::g', '8.8.8.8.8', '8.8.8.8/8'])).to.deep.equal([]);
  });

  it('addresses on the deny list are denied in addition to the built-in ones', () => {
    const denied = ['8.8.8.8', '1.1.1.0/24', '2606:4700::/32', '::ffff:9.9.9.0/120'];
    expect(listAllowed([...PUBLIC, '9.9.9.9', '::ffff:8.8.8.8', '127.0.0.1'], denied)).to.deep.equal([
      '93.184.216.34',
      '2a00:1450:4001::64',
    ]);
    expect(listAllowed(PUBLIC, ['0.0.0.0', '169.254.169.254'])).to.deep.equal(PUBLIC);
    expect(listAllowed(PUBLIC, ['0.0.0.0/0'])).to.deep.equal(['2606:4700:4700::1111', '2a00:1450:4001::64']);
  });

  it('addresses on the allow list are never denied', () => {
    const inside = ['127.0.0.1', '::ffff:127.0.0.1', '10.0.0.7', '10.1.0.7', 'fd00::1'];
    expect(listAllowed(inside, ['127.0.0.1'], ['127.0.0.1', '10.0.0.0/16', 'fd00::/8'])).to.deep.equal([
      '127.0.0.1',
      '::ffff:127.0.0.1',
      '10.0.0.7',
      'fd00::1',
    ]);
    // An allowed IPv4 address does not allow its NAT64 form.
    expect(listAllowed(['64:ff9b::127.0.0.1', '127.0.0.2'], [], ['127.0.0.1'])).to.deep.equal([]);
  });

  for (const [key, value] of [
    ['IMPORT_IP_DENY_LIST', '10.0.0.0/33'],
    ['IMPORT_IP_DENY_LIST', '8.8.8.8,internal.example.com'],
    ['IMPORT_IP_ALLOW_LIST', '10.0.0'],
  ] as const) {
    it(`the start fails on an invalid address list: ${key}=${value}`, async () => {
      const failure = await captureError<BootFailure>(
        withBootedTestPlugins([], () => {}, { product: ['broker', 'outbound'], environment: { [key]: value } }),
      );
      expect(failure).to.include({ name: 'BootFailure', plugin: '@tenon/outbound' });
      expect(failure.remedy).to.include(key);
    });
  }

  it('reach private allows private networks and no other addresses that are not public', () => {
    const policy = createOutboundAddressPolicy(['10.9.0.0/16'], []);
    const reached = (all: readonly string[]) => all.filter((address) => policy(address, 'private'));
    const inside = ['10.0.0.1', '172.16.0.1', '192.168.1.1', '::ffff:10.0.0.1', 'fd00::1', '8.8.8.8'];
    expect(reached(inside)).to.deep.equal(inside);
    const never = [
      '10.9.1.1',
      '127.0.0.1',
      '0.0.0.0',
      '169.254.169.254',
      '169.254.1.1',
      '100.64.0.1',
      '::1',
      'fe80::1',
    ];
    const platforms = ['fd00:ec2::254', 'fd20:ce::254', '100.100.100.200', '168.63.129.16', '64:ff9b::7f00:1'];
    expect(reached([...never, ...platforms, '224.0.0.1', '255.255.255.255'])).to.deep.equal([]);
  });
});
