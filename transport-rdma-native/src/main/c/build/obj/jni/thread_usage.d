build/obj/jni/thread_usage.o: jni/thread_usage.c jni/jni_util.h \
 /usr/lib/jvm/java-17-openjdk-amd64/include/jni.h \
 /usr/lib/jvm/java-17-openjdk-amd64/include/linux/jni_md.h verbs_api.h
jni/jni_util.h:
/usr/lib/jvm/java-17-openjdk-amd64/include/jni.h:
/usr/lib/jvm/java-17-openjdk-amd64/include/linux/jni_md.h:
verbs_api.h:
