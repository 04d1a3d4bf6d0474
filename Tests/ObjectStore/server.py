"""Serves a bucket by S3's interface, with requests that must be signed, until its input ends."""
import json, os, sys

# Setting up takes four requests; all later ones must be signed by a user who may use the bucket.
os.environ["INITIAL_NO_AUTH_ACTION_COUNT"] = "4"
os.environ["S3_UPLOAD_PART_MIN_SIZE"] = "1024"

import boto3
from moto.server import ThreadedMotoServer

server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
host, port = server.get_host_and_port()
endpoint = f"http://127.0.0.1:{port}"
common = dict(endpoint_url=endpoint, region_name="us-east-1", aws_access_key_id="x", aws_secret_access_key="x")
boto3.client("s3", **common).create_bucket(Bucket="files")
iam = boto3.client("iam", **common)
iam.create_user(UserName="relata")
policy = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}
iam.put_user_policy(UserName="relata", PolicyName="all", PolicyDocument=json.dumps(policy))
key = iam.create_access_key(UserName="relata")["AccessKey"]
print(json.dumps({"endpoint": endpoint, "key": key["AccessKeyId"], "secret": key["SecretAccessKey"]}), flush=True)
sys.stdin.read()
os._exit(0)
