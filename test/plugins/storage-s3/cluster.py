"""OpenStack Swift with its S3 middleware, whole and small: the four servers of one cluster of one disk, which is a folder.

    python3 cluster.py FOLDER ACCESS_KEY SECRET_KEY

Prints the port that speaks S3 as one line of JSON, serves until its standard input ends, so that it never outlives whoever
started it, and keeps everything in FOLDER, which is gone in the end.
"""
import json
import os
import shutil
import sys

from swift.common import utils

folder, access_key, secret_key = os.path.abspath(sys.argv[1]), *sys.argv[2:]
account, user = access_key.split(':')

# Names of objects are hashed with a secret of the cluster; everything of Swift that is imported later wants it.
utils.SWIFT_CONF_FILE = os.path.join(folder, 'swift.conf')
with open(utils.SWIFT_CONF_FILE, 'w') as file:
    file.write('[swift-hash]\nswift_hash_path_suffix = of-a-test\n')
utils.validate_configuration()
utils.eventlet_monkey_patch()

import eventlet
from eventlet import tpool, wsgi
from swift.common.ring import RingBuilder
from swift.common.wsgi import SwiftHttpProtocol, loadapp

COMMON = '''
[DEFAULT]
swift_dir = {folder}
devices = {folder}
mount_check = false
log_level = CRITICAL
'''

STORE = COMMON + '''
[pipeline:main]
pipeline = store

[app:store]
use = egg:swift#{kind}
'''

# `s3api` understands S3, and `tempauth` checks its signatures by the secret that it alone knows.
PROXY = COMMON + '''
[pipeline:main]
pipeline = catch_errors gatekeeper cache listing_formats bulk s3api tempauth copy slo proxy-server

[filter:catch_errors]
use = egg:swift#catch_errors
[filter:gatekeeper]
use = egg:swift#gatekeeper
[filter:cache]
use = egg:swift#memcache
# Nobody listens there: without a cache everything is looked up.
memcache_servers = 127.0.0.1:1
[filter:listing_formats]
use = egg:swift#listing_formats
[filter:bulk]
use = egg:swift#bulk
[filter:s3api]
use = egg:swift#s3api
location = us-east-1
max_upload_part_num = 10000
# Small pages, so that tests need no thousands of objects to see a second one.
max_bucket_listing = 20
max_parts_listing = 100
[filter:tempauth]
use = egg:swift#tempauth
user_{account}_{user} = {secret_key} .admin
[filter:copy]
use = egg:swift#copy
[filter:slo]
use = egg:swift#slo
max_manifest_segments = 10000

[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
'''


def listen(name, text):
    path = os.path.join(folder, name + '.conf')
    with open(path, 'w') as file:
        file.write(text.format(folder=folder, kind=name, account=account, user=user, secret_key=secret_key))
    return path, eventlet.listen(('127.0.0.1', 0), backlog=1024)


def serve(path, socket):
    # The case of header names matters to clients of S3 (`ETag`), as Swift's own start knows.
    app = loadapp(path)
    eventlet.spawn(wsgi.server, socket, app, log=utils.NullLogger(), protocol=SwiftHttpProtocol,
                   capitalize_response_headers=False)


os.makedirs(os.path.join(folder, 'disk'))
stores = {kind: listen(kind, STORE) for kind in ('account', 'container', 'object')}
for kind, (_, socket) in stores.items():
    builder = RingBuilder(part_power=4, replicas=1, min_part_hours=0)
    builder.add_dev({'id': 0, 'region': 1, 'zone': 1, 'weight': 1, 'ip': '127.0.0.1', 'port': socket.getsockname()[1],
                     'device': 'disk'})
    builder.rebalance()
    builder.get_ring().save(os.path.join(folder, kind + '.ring.gz'))
for path, socket in stores.values():
    serve(path, socket)
path, socket = listen('proxy', PROXY)
serve(path, socket)

print(json.dumps({'port': socket.getsockname()[1]}), flush=True)
while tpool.execute(os.read, 0, 1024):
    pass
shutil.rmtree(folder, ignore_errors=True)
