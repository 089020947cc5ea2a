"""Django REST framework with its three paginations over 230 rows. Prints its port."""

import sys
from wsgiref.simple_server import WSGIRequestHandler, make_server

import django
from django.conf import settings

settings.configure(
    ALLOWED_HOSTS=["*"],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
    DEFAULT_AUTO_FIELD="django.db.models.AutoField",
    INSTALLED_APPS=["rest_framework"],
    REST_FRAMEWORK={
        "DEFAULT_AUTHENTICATION_CLASSES": [],
        "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
        "UNAUTHENTICATED_USER": None,
    },
    ROOT_URLCONF=__name__,
    USE_TZ=True,
)
django.setup()

from django.core.wsgi import get_wsgi_application  # noqa: E402
from django.db import connection, models  # noqa: E402
from django.urls import path  # noqa: E402
from rest_framework import generics, pagination, serializers  # noqa: E402


class Order(models.Model):
    name = models.CharField(max_length=100)
    amount = models.DecimalField(max_digits=12, decimal_places=2)
    open = models.BooleanField()

    class Meta:
        app_label = "shop"


class OrderSerializer(serializers.ModelSerializer):
    customer = serializers.SerializerMethodField()

    def get_customer(self, order):
        return {"name": f"Customer {order.id % 7}"}

    class Meta:
        model = Order
        fields = ["id", "name", "amount", "open", "customer"]


class Pages(pagination.PageNumberPagination):
    page_size = 20
    page_size_query_param = "page_size"
    max_page_size = 60


class Limits(pagination.LimitOffsetPagination):
    default_limit = 20


class Cursors(pagination.CursorPagination):
    page_size = 20
    page_size_query_param = "page_size"
    ordering = "id"


class Orders(generics.ListAPIView):
    serializer_class = OrderSerializer

    def get_queryset(self):
        orders = Order.objects.order_by("id")
        return orders.filter(open=True) if self.request.query_params.get("open") else orders


urlpatterns = [
    path("pages/", Orders.as_view(pagination_class=Pages)),
    path("limits/", Orders.as_view(pagination_class=Limits)),
    path("cursors/", Orders.as_view(pagination_class=Cursors)),
]


class Quiet(WSGIRequestHandler):
    def log_message(self, *_):
        pass


with connection.schema_editor() as editor:
    editor.create_model(Order)
Order.objects.bulk_create(
    Order(name=f"订单 {n}", amount=f"{n}.50", open=n % 2 == 0) for n in range(1, 231)
)
server = make_server("127.0.0.1", 0, get_wsgi_application(), handler_class=Quiet)
print(server.server_port, flush=True)
sys.stdin.close()
server.serve_forever()
