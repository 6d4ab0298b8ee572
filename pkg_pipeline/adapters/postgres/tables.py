"""placeholder"""

from sqlalchemy import MetaData

METADATA = MetaData(schema="pkg")
