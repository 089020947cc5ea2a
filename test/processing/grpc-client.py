"""A client in another language: it has only what protoc made of the proto file, and grpcio."""
import json
import sys

import grpc
import task_pb2 as task

address, path = sys.argv[1:]
channel = grpc.insecure_channel(address)


def method(name, request, response):
    return channel.unary_unary(
        f"/task.v1.TaskService/{name}",
        request_serializer=request.SerializeToString,
        response_deserializer=response.FromString,
    )


create = method("CreateTask", task.CreateTaskRequest, task.CreateTaskResponse)
status = method("GetTaskStatus", task.GetTaskStatusRequest, task.GetTaskStatusResponse)


def failure(call, request):
    try:
        call(request, timeout=20)
    except grpc.RpcError as error:
        return [error.code().name, error.details()]


# ServerReflectionRequest{list_services: ""}, field 7, by hand: grpcio's reflection package is not in Debian.
reflection = channel.stream_stream("/grpc.reflection.v1.ServerReflection/ServerReflectionInfo")
listed = next(iter(reflection(iter([b"\x3a\x00"]), timeout=20)))

made = create(task.CreateTaskRequest(temp_file_path=path, original_filename="v.mov"), timeout=20)
answer = status(task.GetTaskStatusRequest(task_id=made.task_id), timeout=20)
print(
    json.dumps(
        {
            "status": task.TaskStatus.Name(answer.status),
            "empty": failure(create, task.CreateTaskRequest()),
            "unknown": failure(status, task.GetTaskStatusRequest(task_id="nope")),
            "again": failure(create, task.CreateTaskRequest(temp_file_path=path, original_filename="v.mov")),
            "reflected": b"task.v1.TaskService" in listed,
        }
    )
)
