select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select (select row_to_json(x.*) from (select t2.f0 as "topic", t2.f1 as "status") x) as "countDistinct" from (select count(distinct t1."topic") as f0, count(distinct t1."status") as f1 from "public"."article" t1) t2) r
-- []
